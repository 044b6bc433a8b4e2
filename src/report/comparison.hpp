#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// "x1.081 [1.052-1.110]", or why there is no more: of ratios the third place behind the point
/// counts.
std::string ratio_text(const document::Quantity& ratio, bool interval, Notes& notes);

/// What a comparison found in one sentence, and which factor moved: "B is faster: +28 % tok/s
/// [..]: passes/s -2 %, tokens/pass +31 %."
std::string verdict_sentence(const document::Comparison& comparison);

/// The same of the stated limit; empty where none was.
std::string limit_sentence(const document::Comparison& comparison);

/// The comparisons as tables with the first one's verdict above; empty where there are none.
std::string comparison_table(const document::Document& document, const Style& style, Notes& notes);

}  // namespace paceline::report
