#include "report/benchstat.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "util/printable.hpp"

namespace paceline::report {

namespace {

/// Names and values of the format end at spaces.
std::string word(const std::string& text) {
  std::string result = util::printable(text);
  std::replace(result.begin(), result.end(), ' ', '_');
  std::replace(result.begin(), result.end(), '/', '_');
  return result;
}

std::string line(const std::string& workload_class, const document::LaunchFigures& launch) {
  std::string text = fmt::format("BenchmarkPaceline/class={}/arm={} 1 {:.1f} ns/op {:.4f} tok/s",
                                 word(workload_class), word(launch.arm), 1e9 / launch.tokens_per_s,
                                 launch.tokens_per_s);
  if (launch.passes_per_s.value)
    text += fmt::format(" {:.4f} passes/s", *launch.passes_per_s.value);
  if (launch.tokens_per_pass.value)
    text += fmt::format(" {:.4f} tokens/pass", *launch.tokens_per_pass.value);
  return text + "\n";
}

}  // namespace

std::string benchstat(const document::Document& document) {
  std::string text = "pkg: paceline\n";
  if (document.machine.processor.value)
    text += "cpu: " + util::printable(*document.machine.processor.value) + "\n";
  for (const auto& comparison : document.comparisons)
    for (const auto& launch : comparison.launch_figures)
      text += line(comparison.workload_class.value_or("all"), launch);
  return text;
}

}  // namespace paceline::report
