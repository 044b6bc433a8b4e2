#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "workload/prompts.hpp"
#include "workload/selection.hpp"

// A workload file from anywhere, in every format. What was read must be usable: no twin ids, every
// prompt with something to send in the chat form, raw forms that are not empty, and every question
// answered by its own answer.
namespace {

using namespace paceline;

void check_sendable(const workload::Selection& selection) {
  const auto chat = workload::in_form(selection, trace::PromptForm::chat);
  if (!chat || chat->warm_up.empty()) std::abort();
  for (const auto& prompt : chat->measured)
    if (prompt.messages.empty() || prompt.messages.back().content.empty()) std::abort();
  const auto raw = workload::in_form(selection, trace::PromptForm::raw);
  if (!raw) return;
  for (const auto& prompt : raw->measured)
    if (prompt.text.empty() || !prompt.messages.empty()) std::abort();
}

void check(std::string_view text, const std::string& format) {
  const auto read = workload::read_workload(text, "fuzz", format);
  if (!read) return;
  for (const auto& prompt : read->prompts)
    if (prompt.question && !workload::is_right(*prompt.question, prompt.question->answer))
      std::abort();
  std::set<std::string> ids;
  for (const auto& prompt : read->prompts)
    if (prompt.id.empty() || prompt.workload_class.empty() || !ids.insert(prompt.id).second)
      std::abort();
  const auto selection = workload::select(read->prompts, {}, 3);
  if (!selection || selection->measured.empty()) std::abort();
  check_sendable(*selection);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, paceline::workload::any_format);
  for (const auto& format : paceline::workload::format_names()) check(text, format);
  return 0;
}
