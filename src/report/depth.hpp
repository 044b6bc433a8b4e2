#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// Speeds by class, depth and arm, with a mark where speculation loses; empty when every class was
/// measured at one depth.
std::string depth_table(const document::Document& document, const Style& style, Notes& notes);

/// How the context was filled and what memory was held then; empty when it was not.
std::string fill_table(const document::Document& document, const Style& style, Notes& notes);

/// What verifying a draft costs on the plain arm by its length, and the share of it that has to be
/// accepted to pay for that, with a bar; empty when plain's passes were not timed by width.
std::string verify_cost_table(const document::Document& document, const Style& style);

}  // namespace paceline::report
