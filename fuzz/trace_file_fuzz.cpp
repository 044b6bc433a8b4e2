#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "document/assemble.hpp"
#include "document/json.hpp"
#include "metrics/summary.hpp"
#include "model/bytes.hpp"
#include "report/demo.hpp"
#include "report/terminal.hpp"
#include "trace/trace_file.hpp"

// A trace from anywhere, through every figure to the printed page: whatever it holds, nothing may
// crash on the way.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline;
  const auto trace = trace::read_trace({reinterpret_cast<const char*>(data), size});
  if (!trace) return 0;
  for (const auto& launch : trace->launches)
    if (launch.facts && launch.facts->target.reads) {
      const auto bytes = model::bytes_of_pass(*launch.facts->target.reads, {.width = 8});
      if (bytes && !std::isfinite(model::total_bytes(*bytes))) std::abort();
    }
  const auto mix = metrics::mix_of(*trace);
  const auto document = document::assemble(*trace, metrics::summarise(*trace, mix), mix, {});
  if (document::to_json_text(document).empty()) std::abort();
  report::terminal(document, {});
  report::demo_paragraph(document);
  return 0;
}
