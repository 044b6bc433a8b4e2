#pragma once

#include <string>

#include "document/document.hpp"

namespace paceline::report {

/// The comparisons as JUnit XML, a test case each: a failure where the stated limit is broken,
/// skipped where it, or without one anything, cannot be told.
std::string junit(const document::Document& document);

}  // namespace paceline::report
