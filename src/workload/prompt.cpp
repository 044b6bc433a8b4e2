#include "workload/prompt.hpp"

#include <algorithm>
#include <utility>

namespace paceline::workload {

Prompt user_prompt(std::string id, std::string workload_class, std::string content) {
  Prompt prompt;
  prompt.id = std::move(id);
  prompt.workload_class = std::move(workload_class);
  prompt.family = prompt.id;
  prompt.messages.push_back({"user", std::move(content)});
  return prompt;
}

bool has_images(const Prompt& prompt) {
  return std::any_of(prompt.messages.begin(), prompt.messages.end(),
                     [](const auto& message) { return !message.images.empty(); });
}

std::optional<Prompt> in_raw_form(Prompt prompt) {
  if (prompt.text.empty()) {
    if (prompt.messages.size() != 1 || prompt.messages[0].role != "user") return std::nullopt;
    if (has_images(prompt)) return std::nullopt;
    prompt.text = std::move(prompt.messages[0].content);
  }
  prompt.messages.clear();
  return prompt;
}

Prompt in_chat_form(Prompt prompt) {
  if (prompt.messages.empty()) prompt.messages.push_back({"user", std::move(prompt.text)});
  prompt.text.clear();
  return prompt;
}

}  // namespace paceline::workload
