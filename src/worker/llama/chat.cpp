#include "worker/llama/chat.hpp"

#include <exception>

#include "chat.h"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

util::Result<void> parse_templates(LoadedModel& model) {
  if (model.chat_templates != nullptr) return {};
  try {
    model.chat_templates.reset(common_chat_templates_init(model.target_model.get(), "").release());
    return {};
  } catch (const std::exception& problem) {
    return refuse(
        "The chat template in '{}' cannot be parsed ({}): correct tokenizer.chat_template, or send "
        "the prompts as raw text (--prompt-form raw).",
        model.setup.model_path, problem.what());
  }
}

// llama-server's defaults; thinking is left on where the template knows it.
common_chat_templates_inputs inputs_of(const common_chat_templates* templates,
                                       const std::vector<protocol::ChatMessage>& messages) {
  common_chat_templates_inputs inputs;
  for (const auto& message : messages) {
    common_chat_msg& added = inputs.messages.emplace_back();
    added.role = message.role;
    added.content = message.content;
  }
  inputs.add_generation_prompt = true;
  inputs.use_jinja = true;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  inputs.enable_thinking = common_chat_templates_support_enable_thinking(templates);
  return inputs;
}

}  // namespace

void ChatTemplatesDeleter::operator()(common_chat_templates* templates) const {
  common_chat_templates_free(templates);
}

util::Result<std::string> render_chat(LoadedModel& model,
                                      const std::vector<protocol::ChatMessage>& messages) {
  PACELINE_TRY(parse_templates(model));
  const common_chat_templates* templates = model.chat_templates.get();
  // Without one the library takes a template of its own, which the model has never seen.
  if (!common_chat_templates_was_explicit(templates))
    return refuse(
        "'{}' has no chat template (tokenizer.chat_template): send the prompts as raw text "
        "(--prompt-form raw), or "
        "name an instruct model.",
        model.setup.model_path);
  // llama-server would have the model go on with that message instead of answering.
  if (messages.back().role == "assistant")
    return refuse("The last message is the assistant's: end with one that is to be answered.");
  try {
    return common_chat_templates_apply(templates, inputs_of(templates, messages)).prompt;
  } catch (const std::exception& problem) {
    return refuse("The chat template in '{}' does not take these messages: {}.",
                  model.setup.model_path, problem.what());
  }
}

}  // namespace paceline::worker
