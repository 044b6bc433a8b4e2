#pragma once

#include <string>

#include "document/document.hpp"

namespace paceline::report {

/// One paragraph in plain English, from the document's figures alone: where speculation pays on
/// this machine and where not, why, and whether a draft length meets a slow step of the kernels.
std::string demo_paragraph(const document::Document& document);

}  // namespace paceline::report
