#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dialect/prometheus.hpp"

// The answer of a metrics route from anywhere. What was read is what a counter can be, and neither
// the oddities nor the positions grow with the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline::dialect;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto counters =
      read_prometheus(text, {"a_total", "llamacpp:n_decode_total", "at_total",
                             "vllm:spec_decode_num_accepted_tokens_per_pos_total"});
  if (!counters) {
    if (counters.error().message.empty()) std::abort();
    return 0;
  }
  if (counters->oddities.size() > 21) std::abort();
  for (const auto& [name, value] : counters->values)
    if (value < 0 || std::isnan(value)) std::abort();
  for (const auto& [name, list] : counters->by_position)
    if (list.size() > 4096) std::abort();
  return 0;
}
