#include "workload/readers/reader.hpp"

#include <fmt/format.h>

namespace paceline::workload {

namespace {

protocol::ChatMessage read_message(const util::Json& json) {
  protocol::ChatMessage message;
  util::read_field(json, "role", message.role);
  util::read_field(json, "content", message.content);
  if (message.role != "system" && message.role != "user" && message.role != "assistant")
    throw util::JsonMismatch(
        fmt::format("the role \"{}\" is none of system, user and assistant", message.role));
  return message;
}

}  // namespace

bool has_key(const util::Json& record, const char* key) {
  return record.is_object() && record.contains(key);
}

std::string read_id(const util::Json& record, const char* key, const Tally& tally) {
  if (!has_key(record, key)) return fmt::format("record-{}", tally.records);
  if (record.at(key).is_number_integer()) return record.at(key).dump();
  std::string id;
  util::read_field(record, key, id);
  return id.empty() ? fmt::format("record-{}", tally.records) : id;
}

std::vector<protocol::ChatMessage> read_messages(const util::Json& messages) {
  if (!messages.is_array()) throw util::JsonMismatch("messages: an array was expected");
  std::vector<protocol::ChatMessage> result;
  for (const auto& message : messages) result.push_back(read_message(message));
  if (result.empty()) throw util::JsonMismatch("there are no messages");
  if (result.back().role != "user" || is_blank(result.back().content))
    throw util::JsonMismatch("the last message is not the user's, or it is empty");
  return result;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string class_of_category(const std::string& category) {
  if (category == "coding") return "code";
  if (category == "writing") return "prose";
  if (category == "roleplay") return "chat";
  return category;
}

Prompt first_turn(const util::Json& record, std::vector<std::string> turns, Tally& tally) {
  std::string category;
  util::read_field(record, "category", category);
  if (category.empty()) throw util::JsonMismatch("\"category\" is empty");
  if (turns.empty() || is_blank(turns[0])) throw util::JsonMismatch("there is no first turn");
  if (turns.size() > 1) ++tally.with_later_turns;
  return user_prompt(read_id(record, "question_id", tally), class_of_category(category),
                     std::move(turns[0]));
}

}  // namespace paceline::workload
