#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/job.hpp"
#include "util/result.hpp"

namespace paceline::workload {

/// Texts that somebody has: answers of a model with what they answered.
struct Logs {
  std::vector<protocol::KnownText> texts;  ///< ids differ; every one has a prompt and a text
  std::vector<std::string> notes;          ///< how they were read and what was left out
};

/// Texts of a hostile file. JSON Lines, or a JSON array, of chat completions: the messages under
/// "messages", "request.messages" or "body.messages", or a "prompt"; the answer under "choices" (of
/// the record, its "response" or "response.body"), in a "response", "completion" or "output" of
/// text, else the last message when it is the assistant's. Any other file is plain text, taken in
/// pieces of which the first quarter stands for the prompt. A record's class is its
/// "class", "category" or "task", else what guess_class says. Errors name `source` and the record.
util::Result<Logs> read_logs(std::string_view text, std::string_view source);

/// "json": all of it is a JSON object or array; "code": at least half of its bytes stand between
/// ``` fences; "prose": all else. (Calls of tools are "tool_calls", by their place in the record.)
std::string guess_class(std::string_view text);

}  // namespace paceline::workload
