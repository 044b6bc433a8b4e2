#include "workload/readers/reader.hpp"

// SPEED-Bench's records, exported as JSON: {"question_id", "category", "sub_category", "turns",
// "source", "src_id", "difficulty", "multiturn"}; its preparation for NeMo-Skills writes
// "messages", one of the user's a turn, in place of "turns". As it is published, records whose text
// belongs to others hold a placeholder until that preparation has fetched it.

namespace paceline::workload {

namespace {

constexpr std::string_view placeholder = "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE";

bool recognises(const util::Json& record) {
  return has_key(record, "question_id") && has_key(record, "src_id") &&
         (has_key(record, "turns") || has_key(record, "messages"));
}

std::vector<std::string> read_turns(const util::Json& record) {
  std::vector<std::string> turns;
  if (!has_key(record, "messages")) {
    util::read_field(record, "turns", turns);
    return turns;
  }
  for (const auto& message : read_messages(record.at("messages")))
    if (message.role == "user") turns.push_back(message.content);
  return turns;
}

std::optional<Prompt> read(const util::Json& record, Tally& tally) {
  auto turns = read_turns(record);
  if (!turns.empty() && std::string_view(turns[0]).substr(0, placeholder.size()) == placeholder) {
    ++tally.left_out["which hold a placeholder; SPEED-Bench's own preparation fetches the text"];
    return std::nullopt;
  }
  return first_turn(record, std::move(turns), tally);
}

}  // namespace

const Reader speed_bench_reader = {"speed-bench", recognises, read, true};

}  // namespace paceline::workload
