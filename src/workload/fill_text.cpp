#include "workload/fill_text.hpp"

#include <fmt/format.h>

#include <set>

namespace paceline::workload {

namespace {

std::string text_of(const Prompt& prompt) {
  std::string text = prompt.text;
  for (const auto& message : prompt.messages) text += message.content + "\n";
  return text + "\n\n";
}

}  // namespace

FillText repeated(const std::string& text, const std::string& source, std::size_t bytes) {
  FillText result;
  result.note = fmt::format("the context is filled with {} ({} bytes)", source, text.size());
  if (text.empty()) return result;
  if (text.size() < bytes) result.note += ", over and over: its depths repeat one another";
  while (result.text.size() < bytes) result.text += text;
  return result;
}

FillText fill_text(const std::vector<Prompt>& prompts, const std::vector<Prompt>& measured,
                   std::size_t bytes) {
  std::set<std::pair<std::string, std::string>> taken;
  for (const Prompt& prompt : measured) taken.insert({prompt.workload_class, prompt.id});
  std::string others;
  std::string all;
  for (const Prompt& prompt : prompts) {
    all += text_of(prompt);
    if (!taken.contains({prompt.workload_class, prompt.id})) others += text_of(prompt);
  }
  return others.empty() ? repeated(all, "the texts of the prompts that are measured", bytes)
                        : repeated(others, "texts of prompts that are not measured", bytes);
}

std::string beginning(const std::string& text, std::size_t bytes) {
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  while (bytes > 0 && continues(bytes)) --bytes;
  return text.substr(0, bytes);
}

}  // namespace paceline::workload
