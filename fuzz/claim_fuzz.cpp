#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "claim/judge.hpp"
#include "claim/text.hpp"
#include "report/claim.hpp"

// Text that somebody pastes. Whatever it is, every line is read or skipped, every figure that is
// derived is a number with its bounds around it, and neither form of the report lets a control
// character through.
namespace {

using namespace paceline;

void check_figure(const document::DerivedFigure& one) {
  for (const auto& bound : {one.value, one.low, one.high})
    if (bound && !std::isfinite(*bound)) std::abort();
  const double slack = 1e-9 * (1 + std::abs(one.value.value_or(0)));
  if (one.value && one.low && *one.low > *one.value + slack) std::abort();
  if (one.value && one.high && *one.high < *one.value - slack) std::abort();
  if (one.rule.empty()) std::abort();
}

void check_printable(const std::string& text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto sheet = claim::read_text(text, "text");
  const auto& input = sheet.inputs.front();
  if (input.understood < 0 || input.skipped < 0 || input.understood + input.skipped > input.lines)
    std::abort();
  if (sheet.rows.size() > claim::most_rows) std::abort();
  const auto claim = claim::judge(std::move(sheet));
  for (const auto& row : claim.rows)
    for (const auto& one : row.derived) check_figure(one);
  for (const auto& one : claim.contradictions)
    if (!std::isfinite(one.one) || !std::isfinite(one.other)) std::abort();
  check_printable(report::claim(claim, {}));
  check_printable(report::claim_markdown(claim));
  if (document::to_json_text(claim).empty()) std::abort();
  return 0;
}
