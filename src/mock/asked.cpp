#include "mock/asked.hpp"

#include <algorithm>
#include <array>

namespace paceline::mock {

namespace {

using util::Json;

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::optional<int> limit_of(const Json& object) {
  constexpr std::array names = {"n_predict",         "max_tokens",     "max_completion_tokens",
                                "max_output_tokens", "max_new_tokens", "num_predict"};
  for (const char* name : names)
    if (const Json* value = member(object, name); value && value->is_number_integer())
      return value->get<int>();
  return std::nullopt;
}

bool ignores_end(const Json& object) {
  const Json* value = member(object, "ignore_eos");
  return value && value->is_boolean() && value->get<bool>();
}

void add_content(const Json& content, std::string& text, int& images) {
  if (content.is_string()) {
    text += content.get<std::string>();
    return;
  }
  if (!content.is_array()) return;
  for (const Json& part : content) {
    const Json* words = member(part, "text");
    if (!words) words = member(part, "content");
    if (words && words->is_string())
      text += words->get<std::string>();
    else
      ++images;
  }
}

/// A prompt as text, or as ids, which are the only prompt whose length is not ours to say.
void read_prompt(const Truth& truth, const Json& prompt, Asked& asked) {
  if (prompt.is_array() && !prompt.empty() && prompt.front().is_number_integer()) {
    asked.prompt = prompt.dump();
    asked.prompt_tokens = static_cast<int>(prompt.size());
    return;
  }
  const Json& first = prompt.is_array() && !prompt.empty() ? prompt.front() : prompt;
  const Json* words = member(first, "prompt_string");
  if (const Json* messages = member(asked.body, "messages"))
    asked.prompt = template_of(*messages, asked.images);
  else if (words)
    add_content(*words, asked.prompt, asked.images);
  else
    add_content(first.is_object() ? prompt : first, asked.prompt, asked.images);
  const Json* pictures = member(first, "multimodal_data");
  if (pictures && pictures->is_array()) asked.images += static_cast<int>(pictures->size());
  asked.prompt_tokens =
      count_prompt(truth, asked.prompt) + asked.images * std::max(truth.image_tokens, 0);
}

}  // namespace

bool Asked::flag(const char* name, bool otherwise) const {
  const Json* value = member(body, name);
  return value && value->is_boolean() ? value->get<bool>() : otherwise;
}

bool Asked::stream_option(const char* name) const {
  const Json* options = member(body, "stream_options");
  const Json* value = options ? member(*options, name) : nullptr;
  return value && value->is_boolean() && value->get<bool>();
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

std::string template_of(const Json& messages, int& images) {
  std::string text;
  for (const Json& message : messages) {
    const Json* role = member(message, "role");
    text += "<|" + (role && role->is_string() ? role->get<std::string>() : "user") + "|>\n";
    if (const Json* content = member(message, "content")) add_content(*content, text, images);
    if (const Json* pictures = member(message, "images"); pictures && pictures->is_array())
      images += static_cast<int>(pictures->size());
    text += "\n";
  }
  return text + "<|assistant|>\n";
}

util::Result<Asked> read_asked(const Truth& truth, const net::Request& request) {
  Asked asked;
  PACELINE_TRY_ASSIGN(asked.body, util::parse_json(request.body, "the request"));
  if (!asked.body.is_object())
    return util::fail(util::ErrorKind::usage, "a request is a JSON object");
  asked.endpoint = std::string(path_of(request.target));
  asked.stream = asked.flag("stream");
  asked.chat = asked.body.contains("messages");
  const Json* prompt = nullptr;
  for (const char* name : {"messages", "prompt", "text", "input", "input_ids"})
    if (!prompt) prompt = member(asked.body, name);
  if (!prompt)
    return util::fail(util::ErrorKind::usage, "a request has a prompt or messages; send one");
  read_prompt(truth, *prompt, asked);

  asked.limits.tokens = limit_of(asked.body);
  asked.limits.ignore_eos = ignores_end(asked.body);
  for (const char* name : {"sampling_params", "options"}) {
    const Json* inner = member(asked.body, name);
    if (!inner) continue;
    if (!asked.limits.tokens) asked.limits.tokens = limit_of(*inner);
    asked.limits.ignore_eos = asked.limits.ignore_eos || ignores_end(*inner);
  }
  return asked;
}

}  // namespace paceline::mock
