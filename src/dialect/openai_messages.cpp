#include "dialect/openai_messages.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "dialect/quantities.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

int byte_count(const std::string& text) {
  return static_cast<int>(std::min<std::size_t>(text.size(), std::numeric_limits<int>::max()));
}

void read_finish(const Fields& choice, Message& message) {
  const auto reason = choice.line("finish_reason");
  if (!reason) return;
  if (*reason == "length")
    message.stop = trace::StopReason::limit;
  else if (*reason == "stop" || *reason == "tool_calls" || *reason == "function_call" ||
           *reason == "eos_token" || *reason == "stop_sequence")
    message.stop = trace::StopReason::eos;
  else if (*reason == "abort" || *reason == "error" || *reason == "cancelled")
    message.error = "the server ended the request: finish_reason is \"" + *reason + "\"";
  else {
    message.stop = trace::StopReason::none;
    add_oddity(message.oddities, "finish_reason is \"" + *reason + "\", which is not known");
  }
}

/// Text of a delta or of a whole message: both have the same names.
void read_texts(const Fields& part, Message& message) {
  if (auto content = part.text("content")) add_content(std::move(*content), message);
  auto reasoning = part.text("reasoning_content");
  if (!reasoning) reasoning = part.text("reasoning");  // some servers send both, and the same
  if (reasoning) add_reasoning(std::move(*reasoning), message);
  const util::Json* calls = part.array("tool_calls");
  if (calls != nullptr && !calls->empty()) message.has_tokens = true;
}

void read_choice(const util::Json& json, OpenAiShape& shape, Message& message) {
  const Fields choice(json, "choices[0]", message.oddities);
  if (!choice) return add_oddity(message.oddities, "choices[0] is not an object");
  shape.choice = &json;
  read_texts(choice.object("delta"), message);
  read_texts(choice.object("message"), message);
  if (auto text = choice.text("text")) add_content(std::move(*text), message);
  if (const util::Json* ids = choice.array("token_ids"))
    read_token_ids(*ids, choice.path("token_ids"), message);
  read_finish(choice, message);
  shape.last = message.stop || message.error || choice.has("message");
}

void read_choices(const Fields& root, OpenAiShape& shape, Message& message) {
  const util::Json* choices = root.array("choices");
  if (choices == nullptr || choices->empty()) return;
  if (choices->size() > 1)
    add_oddity(message.oddities, "there is more than one choice; the first was read");
  read_choice(choices->front(), shape, message);
}

std::string endpoint_of(const Fields& root, const util::Json* choice, std::string_view prefix) {
  const auto object = root.text("object");
  const bool plain = (object && object->starts_with("text_completion")) ||
                     (choice != nullptr && choice->contains("text"));
  return std::string(prefix) + (plain ? "/completions" : "/chat/completions");
}

/// Tokens of the prompt that came from a cache, under the names in use. Absent, null and 0 are
/// three states: only the last one is a count.
struct Cached {
  std::optional<long> count;
  std::string field;
};
Cached read_cached(const Fields& usage) {
  for (const char* details : {"prompt_tokens_details", "input_tokens_details"}) {
    const Fields object = usage.object(details);
    if (const auto count = object.count("cached_tokens"))
      return {count, object.path("cached_tokens")};
  }
  return {usage.count("prompt_cache_hit_tokens"), usage.path("prompt_cache_hit_tokens")};
}

void say_prompt(const Fields& usage, Sayings& say, Message& message) {
  const auto prompt = usage.count("prompt_tokens");
  const Cached cached = read_cached(usage);
  say.add(Quantity::prompt_tokens, prompt, "usage.prompt_tokens");
  say.add(Quantity::prompt_cached, cached.count, cached.field);
  if (!prompt || !cached.count) return;
  if (*cached.count > *prompt)
    return add_oddity(message.oddities, cached.field + " is more than usage.prompt_tokens");
  say.add(Quantity::prompt_processed, std::optional(*prompt - *cached.count), "usage.prompt_tokens",
          "usage.prompt_tokens less " + cached.field);
}

void say_output(const Fields& usage, std::optional<long> output, Sayings& say, Message& message) {
  say.add(Quantity::output_tokens, output, "usage.completion_tokens");
  const Fields details = usage.object("completion_tokens_details");
  auto reasoning = details.count("reasoning_tokens");
  std::string field = details.path("reasoning_tokens");
  if (!reasoning) {
    reasoning = usage.count("reasoning_tokens");
    field = usage.path("reasoning_tokens");
  }
  if (reasoning && output && *reasoning > *output)
    return add_oddity(message.oddities, field + " is more than usage.completion_tokens");
  say.add(Quantity::reasoning_tokens, reasoning, field);
}

void read_usage(const Fields& root, const OpenAiShape& shape, Message& message) {
  const Fields usage = root.object("usage");
  if (!usage) return;
  const auto output = usage.count("completion_tokens");
  message.chunk.output_tokens = output;
  if (!shape.last) return;  // of the last one the numbers count, and of a stream it alone costs
  Sayings say(message.said, shape.endpoint);
  say_prompt(usage, say, message);
  say_output(usage, output, say, message);
}

}  // namespace

bool is_done_mark(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1) == "[DONE]";
}

void read_error(const util::Json& json, Message& message) {
  const bool object_says_so = json.contains("object") && json["object"] == "error";
  const bool detail = !json.contains("choices") && json.contains("detail");
  const auto error = json.find("error");
  const bool named = error != json.end() && !error->is_null();
  if (!named && !object_says_so && !detail) return;
  const util::Json& said = named ? *error : json;
  std::string text;
  if (said.is_string())
    text = said.get<std::string>();
  else if (said.is_object() && said.contains("message") && said["message"].is_string())
    text = said["message"].get<std::string>();
  else
    text = util::dump_json(said);
  message.error = short_line(text.empty() ? "an error without a message" : text);
}

OpenAiShape read_openai_message(const util::Json& json, std::string_view prefix, Message& message) {
  const Fields root(json, "", message.oddities);
  OpenAiShape shape;
  read_error(json, message);
  read_choices(root, shape, message);
  // A message without a choice is the usage behind the end, or metadata in the middle: only the
  // former has numbers.
  if (shape.choice == nullptr) shape.last = true;
  shape.endpoint = endpoint_of(root, shape.choice, prefix);
  read_usage(root, shape, message);
  return shape;
}

void add_content(std::string text, Message& message) {
  message.content += text;
  message.chunk.content_bytes = byte_count(message.content);
}

void add_reasoning(std::string text, Message& message) {
  message.reasoning += text;
  message.chunk.reasoning_bytes = byte_count(message.reasoning);
}

void read_token_ids(const util::Json& list, const std::string& field, Message& message) {
  message.chunk.tokens.reserve(list.size());
  for (const auto& element : list) {
    const bool is_id = element.is_number_unsigned() &&
                       element.get<std::uint64_t>() <=
                           static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
    if (!is_id) add_oddity(message.oddities, field + " holds something that is no token id");
    message.chunk.tokens.push_back(is_id ? element.get<std::int32_t>() : trace::unknown_token);
  }
}

void settle(bool last, Message& message) {
  if (!message.content.empty() || !message.reasoning.empty() || !message.chunk.tokens.empty())
    message.has_tokens = true;
  if (!last && !message.prompt_batch && message.chunk.output_tokens.value_or(0) > 0)
    message.has_tokens = true;
}

}  // namespace paceline::dialect
