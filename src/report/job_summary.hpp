#pragma once

#include <string>

#include "document/document.hpp"

namespace paceline::report {

/// The comparisons as Markdown for the summary of a job on GitHub.
std::string job_summary(const document::Document& document);

}  // namespace paceline::report
