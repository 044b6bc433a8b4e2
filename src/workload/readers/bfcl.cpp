#include "workload/readers/reader.hpp"

// The Berkeley Function Calling Leaderboard, v3 and v4: {"id": "simple_python_0", "question":
// [[{"role", "content"}]], "function": [..]}, a list of messages a turn.

namespace paceline::workload {

namespace {

// Few templates of small models take tools, and every model reads a system message; the leaderboard
// prompts models without tools of their own that way too.
constexpr const char* instruction =
    "You can call the functions below. Answer with a JSON array of calls and nothing else; a call "
    "is {\"name\": NAME, \"arguments\": {..}}. Functions: ";

bool recognises(const util::Json& record) {
  return has_key(record, "question") &&
         (has_key(record, "function") || has_key(record, "involved_classes"));
}

/// Prompts that offer the same functions share most of their text and of their answers.
std::string family_of(const util::Json& functions) {
  std::string names;
  for (const auto& function : functions) {
    std::string name;
    util::read_field(function, "name", name);
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

std::vector<protocol::ChatMessage> read_first_turn(const util::Json& record, Tally& tally) {
  const auto question = record.find("question");
  if (question == record.end()) throw util::JsonMismatch("\"question\" is missing");
  if (!question->is_array() || question->empty())
    throw util::JsonMismatch("question: an array of turns was expected");
  if (question->size() > 1) ++tally.with_later_turns;
  return read_messages(question->at(0));
}

std::optional<Prompt> read(const util::Json& record, Tally& tally) {
  if (!record.is_object()) throw util::JsonMismatch("an object was expected");
  if (!record.contains("function")) {
    ++tally.left_out["whose functions are in other files (multi-turn, web search, memory)"];
    return std::nullopt;
  }
  const auto& functions = record.at("function");
  if (!functions.is_array() || functions.empty())
    throw util::JsonMismatch("function: an array of functions was expected");
  Prompt prompt;
  prompt.id = read_id(record, "id", tally);
  // Where no function fits, the right answer is prose.
  const bool no_call = prompt.id.find("irrelevance") != std::string::npos;
  prompt.workload_class = no_call ? "irrelevance" : "tool-calls";
  prompt.family = family_of(functions);
  prompt.messages = read_first_turn(record, tally);
  const std::string offer = instruction + util::dump_json(functions);
  if (prompt.messages[0].role == "system")
    prompt.messages[0].content += "\n\n" + offer;
  else
    prompt.messages.insert(prompt.messages.begin(), {"system", offer});
  return prompt;
}

}  // namespace

const Reader bfcl_reader = {"bfcl", recognises, read, true};

}  // namespace paceline::workload
