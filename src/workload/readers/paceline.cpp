#include "workload/readers/reader.hpp"

// Our own: {"id", "class", "text" and/or "messages"} and, if wanted, "family", "note", "licence";
// with an "answer" what `read_question` takes.

namespace paceline::workload {

namespace {

bool recognises(const util::Json& record) {
  return has_key(record, "class") || has_key(record, "text") || has_key(record, "messages");
}

void read_optional(const util::Json& record, const char* key, std::string& value) {
  if (record.contains(key)) util::read_field(record, key, value);
}

std::optional<Prompt> read(const util::Json& record, Tally&) {
  Prompt prompt;
  util::read_field(record, "id", prompt.id);
  util::read_field(record, "class", prompt.workload_class);
  if (prompt.id.empty()) throw util::JsonMismatch("\"id\" is empty");
  if (prompt.workload_class.empty()) throw util::JsonMismatch("\"class\" is empty");
  prompt.family = prompt.id;
  read_optional(record, "family", prompt.family);
  read_optional(record, "text", prompt.text);
  read_optional(record, "note", prompt.note);
  read_optional(record, "licence", prompt.licence);
  if (record.contains("text") && prompt.text.empty()) throw util::JsonMismatch("\"text\" is empty");
  if (record.contains("messages")) prompt.messages = read_messages(record.at("messages"));
  if (prompt.text.empty() && prompt.messages.empty())
    throw util::JsonMismatch("neither \"text\" nor \"messages\" is there; one is needed");
  if (record.contains("answer")) prompt.question = read_question(record);
  return prompt;
}

}  // namespace

const Reader paceline_reader = {"paceline", recognises, read, false};

}  // namespace paceline::workload
