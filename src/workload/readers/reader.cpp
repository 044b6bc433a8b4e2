#include "workload/readers/reader.hpp"

#include <fmt/format.h>

namespace paceline::workload {

namespace {

/// {"type": "image_url", "image_url": {"url": "data:.."}}, as OpenAI has it.
std::string read_image(const util::Json& part) {
  std::string url;
  if (!has_key(part, "image_url")) throw util::JsonMismatch("an image part has no \"image_url\"");
  util::read_field(part.at("image_url"), "url", url);
  if (!url.starts_with("data:image/"))
    throw util::JsonMismatch(
        "an image is no \"data:image/..\" URL: nothing is fetched, so put its bytes into the file");
  return url;
}

/// Text and images in a list, in place of text alone; the images go behind the text.
void read_parts(const util::Json& parts, protocol::ChatMessage& message) {
  for (const auto& part : parts) {
    std::string type;
    util::read_field(part, "type", type);
    if (type == "image_url") {
      message.images.push_back(read_image(part));
    } else if (type == "text") {
      std::string text;
      util::read_field(part, "text", text);
      message.content += text;
    } else {
      throw util::JsonMismatch(
          fmt::format("a part of the type \"{}\" is neither text nor image_url", type));
    }
  }
}

protocol::ChatMessage read_message(const util::Json& json) {
  protocol::ChatMessage message;
  util::read_field(json, "role", message.role);
  if (has_key(json, "content") && json.at("content").is_array())
    read_parts(json.at("content"), message);
  else
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
  const auto& last = result.back();
  if (last.role != "user" || (is_blank(last.content) && last.images.empty()))
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
