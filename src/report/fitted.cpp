#include "report/fitted.hpp"

#include "report/wrap.hpp"

namespace paceline::report {

std::string table_heading(const std::string& text, const Style& style) {
  if (text.empty()) return "\n";
  std::string lines = wrapped(text, table_indent, style.width);
  lines.pop_back();
  return "\n" + util::emphasised(lines, util::Emphasis::heading, style.colour) + "\n";
}

std::string shown(const document::Quantity& quantity, Unit unit, bool interval, Notes& notes) {
  if (!quantity.value) return "- " + notes.mark(quantity.reason);
  const std::string text = with_interval(quantity, unit, interval);
  const bool lacks_interval = !quantity.low || !quantity.high;
  return lacks_interval && !quantity.reason.empty() ? text + " " + notes.mark(quantity.reason)
                                                    : text;
}

}  // namespace paceline::report
