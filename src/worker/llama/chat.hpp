#pragma once

#include <memory>
#include <string>
#include <vector>

#include "protocol/job.hpp"
#include "util/result.hpp"

struct common_chat_templates;

namespace paceline::worker {

struct LoadedModel;

struct ChatTemplatesDeleter {
  void operator()(common_chat_templates* templates) const;
};
using ChatTemplatesPtr = std::unique_ptr<common_chat_templates, ChatTemplatesDeleter>;

/// The text of a conversation up to where the model's answer begins, by the template in the model's
/// file, as llama-server makes it. Refuses a model without a template and messages that the
/// template does not take. The template is parsed at first use and kept with the model.
util::Result<std::string> render_chat(LoadedModel& model,
                                      const std::vector<protocol::ChatMessage>& messages);

}  // namespace paceline::worker
