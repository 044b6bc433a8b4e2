#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workload/mix_file.hpp"

namespace {

using namespace paceline;

/// A mix that was read is one that figures can be made of.
void check(const util::Result<trace::Mix>& mix) {
  if (!mix) return;
  if (mix->name.empty() || !trace::reason_against(*mix).empty()) std::abort();
  for (const auto& [name, item] : mix->classes)
    if (!std::isfinite(item.share) || item.tokens_per_request.value_or(1) < 1) std::abort();
}

}  // namespace

// A mix from anywhere, as a file and as what stands on a command line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(workload::parse_mix_file(text, "fuzz"));
  check(workload::parse_mix_shares(text, 128));
  return 0;
}
