#pragma once

#include <string>

#include "document/claim.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// What follows from somebody's figures, what clashes and what is missing, for a terminal.
std::string claim(const document::Claim& claim, const Style& style);

/// The same as a reply to whoever posted them: short, polite, Markdown.
std::string claim_markdown(const document::Claim& claim);

/// "benchmark", or "screenshot: 15 of 17 facts are missing".
std::string claim_verdict(const document::ClaimFacts& facts);

/// "12.45", "2.60 to 2.62", "at least 4.71", "at most 6.80".
std::string claimed(const document::DerivedFigure& figure);

}  // namespace paceline::report
