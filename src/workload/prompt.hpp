#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/job.hpp"
#include "workload/question.hpp"

namespace paceline::workload {

/// Something to send to a model, in one form or both.
struct Prompt {
  std::string id;
  std::string workload_class;
  std::string text;    ///< to be continued as it is; empty: there is none
  std::string family;  ///< prompts of one template or source; its own id when not given
  std::vector<protocol::ChatMessage> messages;  ///< for the chat template; empty: there are none
  std::string note;                             ///< whatever its writer wants to say
  std::string licence;                          ///< terms of the text; empty: not said
  std::optional<Question> question;  ///< how an answer is checked; absent: there is none to check
};

/// A prompt of one user message.
Prompt user_prompt(std::string id, std::string workload_class, std::string content);

/// Whether one of its messages carries an image.
bool has_images(const Prompt& prompt);

/// The prompt with text alone: its own, or the content of its only message when that is the user's.
/// Nothing where the messages are more than that: which text they make is the template's business.
std::optional<Prompt> in_raw_form(Prompt prompt);

/// The prompt with messages alone: its own, or its text as one user message.
Prompt in_chat_form(Prompt prompt);

}  // namespace paceline::workload
