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

}  // namespace paceline::report
