#include "report/width_step.hpp"

namespace paceline::report {

bool is_slow_step(const document::WidthCurve& curve, std::size_t index) {
  if (index == 0 || index >= curve.widths.size()) return false;
  const document::Width& wide = curve.widths[index];
  const document::Width& narrow = curve.widths[index - 1];
  if (!wide.verify_s.low || !narrow.verify_s.high || narrow.width <= 0) return false;
  const double proportional = static_cast<double>(wide.width) / narrow.width;
  return *wide.verify_s.low > proportional * *narrow.verify_s.high;
}

const document::WidthCurve* curve_of(const document::Document& document, const std::string& arm) {
  for (const auto& curve : document.width_curves)
    if (curve.arm == arm) return &curve;
  return nullptr;
}

}  // namespace paceline::report
