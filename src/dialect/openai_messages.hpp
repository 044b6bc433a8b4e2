#pragma once

#include <string>
#include <string_view>

#include "dialect/dialect.hpp"
#include "dialect/fields.hpp"

// What servers with OpenAI's routes have in common: streamed chunks, usage, errors.

namespace paceline::dialect {

/// What a message is beside what it says.
struct OpenAiShape {
  std::string endpoint;                ///< the route that it must have come from
  const util::Json* choice = nullptr;  ///< the first one; null when there is none
  bool last = false;                   ///< it ends the answer, or follows its end
};

/// True for the mark that ends a stream of OpenAI's kind and says nothing.
bool is_done_mark(std::string_view text);

/// Reads an error in place of an answer, in the shapes that servers give it.
void read_error(const util::Json& json, Message& message);

/// Reads choices, content, reasoning, finish_reason, token ids and usage. `prefix` is what stands
/// before "/chat/completions" in the server's routes.
OpenAiShape read_openai_message(const util::Json& json, std::string_view prefix, Message& message);

/// Adds text to a message and its bytes to the chunk.
void add_content(std::string text, Message& message);
void add_reasoning(std::string text, Message& message);

/// Reads ids of output tokens; what is no id becomes trace::unknown_token, so that none is lost.
void read_token_ids(const util::Json& list, const std::string& field, Message& message);

/// Says whether the message carries output, once all of it was read: text, ids, or a running total
/// in a message that is neither about the prompt nor the last. Whether the last one's total grew
/// only the reader of the whole stream can know.
void settle(bool last, Message& message);

}  // namespace paceline::dialect
