#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "workload/logs.hpp"

// A file of somebody's texts. What was read must be usable: no twin ids, a class, a prompt and a
// text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto logs =
      paceline::workload::read_logs({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!logs) return 0;
  if (logs->texts.empty()) std::abort();
  std::set<std::string> ids;
  for (const auto& text : logs->texts) {
    if (text.prompt.empty() == text.messages.empty()) std::abort();
    if (text.workload_class.empty() || text.text.empty()) std::abort();
    if (text.prompt_id.empty() || !ids.insert(text.prompt_id).second) std::abort();
  }
  return 0;
}
