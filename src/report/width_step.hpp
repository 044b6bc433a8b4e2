#pragma once

#include <string>

#include "document/document.hpp"

namespace paceline::report {

/// Whether passes of widths[index] are a slow step: dearer per token than those of the next
/// narrower width, with their intervals apart; without intervals nothing is. Growth in
/// proportion to the width is what a machine short of arithmetic does and is no step.
bool is_slow_step(const document::WidthCurve& curve, std::size_t index);

/// The widths timed on an arm's own engine; null when none were.
const document::WidthCurve* curve_of(const document::Document& document, const std::string& arm);

}  // namespace paceline::report
