#include "report/prices.hpp"

#include <fmt/format.h>

#include "report/comparison.hpp"
#include "report/fitted.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::DefaultPrice;
using document::Document;
using util::Align;
using util::TextTable;

TextTable prices(const Document& document, Level level, Notes& notes) {
  TextTable table;
  for (const char* name : {"class", "arm", "without", "tok/s", "= passes/s", "x tok/pass"})
    table.add_column(name, Align::left);
  for (const DefaultPrice& price : document.default_prices)
    table.add_row(
        {{util::printable(price.workload_class)},
         {util::printable(price.arm)},
         {fmt::format("{} {:g}", util::printable(price.parameter), price.parameter_value)},
         {ratio_text(price.tokens_per_s, level < 2, notes)},
         {ratio_text(price.passes_per_s, level < 1, notes)},
         {ratio_text(price.tokens_per_pass, level < 1, notes)}});
  return table;
}

}  // namespace

std::string price_table(const Document& document, const Style& style, Notes& notes) {
  if (document.default_prices.empty()) return "";
  return fitted(2, style, notes, [&](Level level, Notes& attempt) {
    return std::vector{
        std::pair{std::string("Price of defaults nobody asked for: the arm without one over the "
                              "arm with it"),
                  prices(document, level, attempt)}};
  });
}

}  // namespace paceline::report
