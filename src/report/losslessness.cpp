#include "report/losslessness.hpp"

#include <fmt/format.h>

#include "report/fitted.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Document;
using document::Lossless;
using document::Workload;
using util::Align;
using util::Cell;
using util::Emphasis;
using util::TextTable;

std::vector<Cell> row(const Workload& workload, const Arm& arm, const Lossless& lossless) {
  return {{util::printable(workload.workload_class)},
          {util::printable(arm.name)},
          {util::printable(lossless.verdict), lossless.wrong > 0 ? Emphasis::bad : Emphasis::none},
          {fmt::format("{} of {}", lossless.equal, lossless.texts)},
          {std::to_string(lossless.near_tie)},
          {std::to_string(lossless.wrong)},
          {std::to_string(lossless.unknown)}};
}

}  // namespace

std::string lossless_table(const Document& document, const Style& style) {
  TextTable table;
  for (const char* name : {"class", "arm", "verdict", "equal"}) table.add_column(name, Align::left);
  for (const char* name : {"near ties", "wrong", "unknown"}) table.add_column(name, Align::right);
  std::string places;
  bool any = false;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads) {
      const auto& lossless = workload.lossless.value;
      if (!lossless) continue;
      any = true;
      table.add_row(row(workload, arm, *lossless));
      if (lossless->equal < lossless->texts)
        places += wrapped(fmt::format("  {} on {} {}", util::printable(workload.workload_class),
                                      util::printable(arm.name), util::printable(lossless->says)),
                          4, style.width);
    }
  if (!any) return "";
  return table_heading("Lossless: greedy texts beside plain's, token for token", style) +
         table.render(table_indent, style.colour) + places;
}

}  // namespace paceline::report
