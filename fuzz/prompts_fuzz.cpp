#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/prompts.hpp"

// A workload file from anywhere. What was read must be usable: no empty texts, no twin ids.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline::workload;
  const auto prompts = read_prompts({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!prompts) return 0;
  for (const auto& prompt : *prompts)
    if (prompt.text.empty() || prompt.id.empty()) std::abort();
  const auto selection = select(*prompts, {}, 3);
  if (!selection || selection->warm_up.empty()) std::abort();
  return 0;
}
