#include <algorithm>

#include "workload/readers/reader.hpp"

// ShareGPT: [{"id", "conversations": [{"from": "human" | "gpt" | "system", "value"}]}]. The widely
// used file was cut into pieces, "CONVERSATION_OFFSET" by id, many of which begin with an answer.

namespace paceline::workload {

namespace {

struct Turn {
  std::string from;
  std::string value;
};

std::vector<Turn> read_turns(const util::Json& record) {
  const auto found = record.find("conversations");
  if (found == record.end()) throw util::JsonMismatch("\"conversations\" is missing");
  if (!found->is_array()) throw util::JsonMismatch("conversations: an array was expected");
  std::vector<Turn> turns;
  for (const auto& json : *found) {
    util::read_field(json, "from", turns.emplace_back().from);
    util::read_field(json, "value", turns.back().value);
  }
  return turns;
}

bool is_users(const Turn& turn) { return turn.from == "human" || turn.from == "user"; }

/// Pieces of one conversation are one family: "QWJhYvA_17" is of "QWJhYvA".
std::string conversation_of(const std::string& id) {
  const std::size_t cut = id.find_last_of('_');
  const bool numbered = cut != std::string::npos && cut > 0 && cut + 1 < id.size() &&
                        id.find_first_not_of("0123456789", cut + 1) == std::string::npos;
  return numbered ? id.substr(0, cut) : id;
}

bool recognises(const util::Json& record) { return has_key(record, "conversations"); }

std::optional<Prompt> read(const util::Json& record, Tally& tally) {
  if (!record.is_object()) throw util::JsonMismatch("an object was expected");
  auto turns = read_turns(record);
  const std::size_t first = !turns.empty() && turns[0].from == "system" ? 1 : 0;
  if (first >= turns.size() || !is_users(turns[first]) || is_blank(turns[first].value)) {
    ++tally.left_out["which do not begin with a message of the user's"];
    return std::nullopt;
  }
  const auto users = std::count_if(turns.begin(), turns.end(), is_users);
  if (users > 1) ++tally.with_later_turns;
  auto prompt = user_prompt(read_id(record, "id", tally), "chat", std::move(turns[first].value));
  prompt.family = conversation_of(prompt.id);
  if (first == 1)
    prompt.messages.insert(prompt.messages.begin(), {"system", std::move(turns[0].value)});
  return prompt;
}

}  // namespace

const Reader sharegpt_reader = {"sharegpt", recognises, read, true};

}  // namespace paceline::workload
