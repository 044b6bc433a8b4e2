#include "report/ceiling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "report/fitted.hpp"
#include "report/format.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Ceiling;
using document::Document;
using util::Align;
using util::Cell;
using util::TextTable;

constexpr Unit gigabytes{1e-9, ""};
constexpr double least_shown_pages = 0.05;  // a pass
constexpr double least_contradiction = 0.05;

std::string largest_text(const Ceiling& ceiling) {
  std::vector<std::string> parts;
  for (const auto& part : ceiling.largest)
    parts.push_back(fmt::format("{} {:.0f} %", util::printable(part.tensor_class),
                                100 * part.bytes / *ceiling.bytes_per_pass.value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "bandwidth-bound: reading 71 %, computing 20 %, host 9 %": the terms from the largest.
std::string terms_text(const Ceiling& ceiling, Notes& notes) {
  if (!ceiling.terms.value) return "- " + notes.mark(ceiling.terms.reason);
  const auto& terms = *ceiling.terms.value;
  std::vector<std::pair<double, const char*>> parts = {{terms.reading_s, "reading"},
                                                       {terms.gathering_s, "gathering"},
                                                       {terms.computing_s, "computing"},
                                                       {terms.drafting_s, "drafting"},
                                                       {terms.host_s, "host"}};
  double total = 0;
  for (const auto& [seconds, name] : parts) total += seconds;
  std::sort(parts.rbegin(), parts.rend());
  std::string text = terms.bound + ":";
  for (const auto& [seconds, name] : parts)
    if (std::abs(seconds) >= 0.01 * total)
      text += fmt::format(" {} {:.0f} %,", name, 100 * seconds / total);
  text.pop_back();
  const double least = parts.back().first;
  if (least <= -least_contradiction * total)
    text += " (below 0: parts are measured apart, and the machine's speed changes)";
  if (const auto& pages = ceiling.disk_pages_per_pass.value; pages && *pages >= least_shown_pages)
    text += fmt::format("; {:.3g} pages of a pass come from disk", *pages);
  return text;
}

}  // namespace

std::string ceiling_table(const Document& document, const Style& style, Notes& notes) {
  const auto counted = [](const Arm& arm) {
    return std::any_of(arm.workloads.begin(), arm.workloads.end(), [](const auto& workload) {
      return workload.ceiling.bytes_per_pass.value.has_value();
    });
  };
  if (std::none_of(document.arms.begin(), document.arms.end(), counted)) return "";
  return fitted(1, style, notes, [&](Level level, Notes& attempt) {
    TextTable table;
    for (const char* name : {"arm", "class", "share", "GB/s read", "of", "a pass"})
      table.add_column(name, Align::left);
    TextTable spent;
    for (const char* name : {"arm", "class", "a pass is spent on"})
      spent.add_column(name, Align::left);
    for (const Arm& arm : document.arms) {
      std::string name = util::printable(arm.name);
      for (const auto& workload : arm.workloads) {
        const Ceiling& ceiling = workload.ceiling;
        if (!ceiling.bytes_per_pass.value) continue;
        const std::string of_class = util::printable(workload.workload_class);
        const std::string bytes_text =
            bytes(static_cast<std::uint64_t>(*ceiling.bytes_per_pass.value)) + ": " +
            largest_text(ceiling) +
            (ceiling.uniform_routing ? " (experts as if evenly routed)" : "");
        table.add_row({{name},
                       {of_class},
                       {shown(ceiling.share, percent, level < 1, attempt)},
                       {shown(ceiling.read_bytes_per_s, gigabytes, level < 1, attempt)},
                       {shown(ceiling.bandwidth, gigabytes, level < 1, attempt)},
                       {bytes_text}});
        spent.add_row({{name}, {of_class}, {terms_text(ceiling, attempt)}});
        name.clear();
      }
    }
    return std::vector{
        std::pair{std::string("Ceiling: time that reading a pass's bytes takes at the bandwidth "
                              "measured before each launch, over the time it took"),
                  table},
        std::pair{std::string("What passes are spent on (docs/ceiling.md)"), spent}};
  });
}

}  // namespace paceline::report
