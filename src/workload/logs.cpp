#include "workload/logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "util/json.hpp"
#include "util/printable.hpp"
#include "workload/readers/reader.hpp"
#include "workload/records.hpp"

namespace paceline::workload {

namespace {

using protocol::ChatMessage;
using protocol::KnownText;
using util::Json;

constexpr std::size_t piece_bytes = 4096;  // of plain text
constexpr std::size_t prompt_share = 4;    // of a piece, its first
constexpr const char* fence = "```";

/// What is under a path of keys; null where some key is missing.
const Json* find(const Json& record, std::initializer_list<const char*> path) {
  const Json* found = &record;
  for (const char* key : path) {
    if (!has_key(*found, key)) return nullptr;
    found = &found->at(key);
  }
  return found;
}

const Json* find_any(const Json& record,
                     std::initializer_list<std::initializer_list<const char*>> paths) {
  for (const auto& path : paths)
    if (const Json* found = find(record, path)) return found;
  return nullptr;
}

/// Text, or the text parts of a list; pictures have no text.
std::string content_of(const Json& message) {
  const Json* content = find(message, {"content"});
  if (content == nullptr || content->is_null()) return "";
  if (content->is_string()) return content->get<std::string>();
  std::string text;
  if (content->is_array())
    for (const Json& part : *content)
      if (const Json* piece = find(part, {"text"}); piece != nullptr && piece->is_string())
        text += piece->get<std::string>();
  return text;
}

/// As a model writes calls: one JSON object a line.
std::string calls_of(const Json& message) {
  const Json* calls = find(message, {"tool_calls"});
  if (calls == nullptr || !calls->is_array()) return "";
  std::string text;
  for (const Json& call : *calls)
    if (const Json* function = find(call, {"function"})) text += util::dump_json(*function) + "\n";
  return text;
}

std::string role_of(const Json& message) {
  std::string role;
  util::read_field(message, "role", role);
  if (role == "developer") return "system";
  return role == "system" || role == "assistant" ? role : "user";
}

/// One answer and the class that its place in the record gives it.
struct Answer {
  std::string text;
  std::string workload_class;
};

Answer answer_of(const Json& message) {
  const std::string calls = calls_of(message);
  Answer answer{content_of(message) + calls, ""};
  if (!calls.empty()) answer.workload_class = "tool_calls";
  return answer;
}

std::optional<Answer> find_answer(const Json& record) {
  const Json* choices =
      find_any(record, {{"choices"}, {"response", "choices"}, {"response", "body", "choices"}});
  if (choices != nullptr && choices->is_array() && !choices->empty()) {
    const Json& first = choices->front();
    if (const Json* message = find(first, {"message"})) return answer_of(*message);
    if (const Json* text = find(first, {"text"}); text != nullptr && text->is_string())
      return Answer{text->get<std::string>(), ""};
  }
  for (const char* key : {"response", "completion", "output"})
    if (const Json* text = find(record, {key}); text != nullptr && text->is_string())
      return Answer{text->get<std::string>(), ""};
  return std::nullopt;
}

const Json* find_messages(const Json& record) {
  const Json* messages = find_any(record, {{"messages"},
                                           {"request", "messages"},
                                           {"request", "body", "messages"},
                                           {"body", "messages"}});
  return messages != nullptr && messages->is_array() ? messages : nullptr;
}

class LogReader {
 public:
  void take(const Json& record) {
    ++records_;
    KnownText text;
    std::optional<Answer> answer = find_answer(record);
    if (const Json* messages = find_messages(record)) {
      for (const Json& message : *messages)
        text.messages.push_back({role_of(message), content_of(message)});
      if (!answer && !messages->empty() && text.messages.back().role == "assistant") {
        answer = answer_of(messages->back());
        text.messages.pop_back();
      }
    } else if (const Json* prompt = find(record, {"prompt"});
               prompt != nullptr && prompt->is_string()) {
      text.prompt = prompt->get<std::string>();
    }
    const bool asks = std::any_of(text.messages.begin(), text.messages.end(),
                                  [](const auto& message) { return !is_blank(message.content); });
    if (!answer || is_blank(answer->text)) {
      ++without_answer_;
    } else if (!asks && is_blank(text.prompt)) {
      ++without_prompt_;
    } else {
      add(record, std::move(*answer), std::move(text));
    }
  }

  void take_plain(std::string_view text) {
    while (!text.empty()) {
      const std::string_view piece = first_piece(text);
      text.remove_prefix(piece.size());
      ++records_;
      if (is_blank(piece)) continue;
      const std::size_t cut =
          character_at(piece, std::max<std::size_t>(1, piece.size() / prompt_share));
      KnownText known;
      known.prompt = piece.substr(0, cut);
      if (is_blank(known.prompt) || is_blank(piece.substr(cut))) continue;
      add(Json::object(), {std::string(piece.substr(cut)), ""}, std::move(known));
    }
  }

  util::Result<Logs> finish(std::string_view source, bool plain) {
    if (logs_.texts.empty())
      return util::fail(
          util::ErrorKind::usage,
          fmt::format("{} has no text that answers something, and an answer alone says nothing "
                      "of what a drafter would have seen: write chat completions as JSON Lines, "
                      "{{\"messages\": [..], \"choices\": [{{\"message\": {{..}}}}]}}, or plain "
                      "text",
                      util::printable(source)));
    if (plain)
      logs_.notes.push_back(fmt::format(
          "plain text in pieces of about {} bytes, of which the first quarter stands for the "
          "prompt",
          piece_bytes));
    note(without_answer_, "have no answer");
    note(without_prompt_, "have an answer and nothing that it answers");
    if (guessed_ > 0)
      logs_.notes.push_back(
          fmt::format("the class of {} of {} texts is guessed: json where all of a text is JSON, "
                      "code where half of it stands between fences, tool_calls, else prose",
                      guessed_, logs_.texts.size()));
    return std::move(logs_);
  }

 private:
  static std::string_view first_piece(std::string_view text) {
    if (text.size() <= piece_bytes) return text;
    const std::size_t line_end = text.find('\n', piece_bytes);
    // Text without line ends is cut all the same.
    return text.substr(0, std::min({line_end == std::string_view::npos ? text.size() : line_end + 1,
                                    character_at(text, 2 * piece_bytes)}));
  }

  /// At or before a byte, where no character is cut.
  static std::size_t character_at(std::string_view text, std::size_t byte) {
    if (byte >= text.size()) return text.size();
    std::size_t at = byte;
    while (at > 1 && (text[at] & 0xC0) == 0x80) --at;
    return at;
  }

  void add(const Json& record, Answer answer, KnownText text) {
    for (const char* key : {"class", "category", "task"})
      if (const Json* named = find(record, {key});
          named != nullptr && named->is_string() && text.workload_class.empty())
        text.workload_class = named->get<std::string>();
    if (text.workload_class.empty()) {
      ++guessed_;
      text.workload_class =
          answer.workload_class.empty() ? guess_class(answer.text) : answer.workload_class;
    }
    Tally tally;
    tally.records = records_;
    const Json* id = find(record, {"id"});
    text.prompt_id = id != nullptr && (id->is_string() || id->is_number_integer())
                         ? read_id(record, "id", tally)
                         : fmt::format("record-{}", records_);
    if (!ids_.insert(text.prompt_id).second) {
      text.prompt_id = fmt::format("record-{}", records_);
      while (!ids_.insert(text.prompt_id).second) text.prompt_id += "+";
    }
    text.text = std::move(answer.text);
    logs_.texts.push_back(std::move(text));
  }

  void note(int count, const char* what) {
    if (count > 0) logs_.notes.push_back(fmt::format("{} of {} records {}", count, records_, what));
  }

  Logs logs_;
  std::set<std::string> ids_;
  int records_ = 0;
  int without_answer_ = 0;
  int without_prompt_ = 0;
  int guessed_ = 0;
};

/// Bytes between fences; an open one reaches to the end.
std::size_t fenced_bytes(std::string_view text) {
  std::size_t bytes = 0;
  while (true) {
    const std::size_t begin = text.find(fence);
    if (begin == std::string_view::npos) return bytes;
    text.remove_prefix(begin + 3);
    const std::size_t end = std::min(text.find(fence), text.size());
    bytes += end;
    text.remove_prefix(std::min(end + 3, text.size()));
  }
}

}  // namespace

util::Result<Logs> read_logs(std::string_view text, std::string_view source) {
  if (text.find('\0') != std::string_view::npos)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("{} is no text: it holds a byte of 0", util::printable(source)));
  LogReader reader;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool plain = first == std::string_view::npos || (text[first] != '{' && text[first] != '[');
  if (plain)
    reader.take_plain(text);
  else
    PACELINE_TRY(for_each_record(text, source, [&](const Json& record) { reader.take(record); }));
  return reader.finish(source, plain);
}

std::string guess_class(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[') &&
      util::parse_json(text, "a text"))
    return "json";
  return 2 * fenced_bytes(text) >= text.size() && fenced_bytes(text) > 0 ? "code" : "prose";
}

}  // namespace paceline::workload
