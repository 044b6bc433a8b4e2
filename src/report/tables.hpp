#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// For each class a row per arm: tok/s = passes/s x tok/pass, and what it is against plain.
std::string class_tables(const document::Document& document, const Style& style, Notes& notes);

/// Acceptance with how often and how far each arm drafted; empty when none speculates.
std::string draft_table(const document::Document& document, const Style& style, Notes& notes);

/// Share of the tokens offered at each position of a draft that were accepted, for the first eight;
/// empty when none was counted by position.
std::string position_table(const document::Document& document, const Style& style, Notes& notes);

/// Tokens per second of the mix, by arm.
std::string mix_table(const document::Document& document, const Style& style, Notes& notes);

/// Prompt tokens per second and time to the first token, by arm and class.
std::string prefill_table(const document::Document& document, const Style& style, Notes& notes);

/// Milliseconds per pass by width, by arm; empty when no width was timed.
std::string width_table(const document::Document& document, const Style& style, Notes& notes);

/// Milliseconds per pass and phase; empty without a synced run.
std::string phase_table(const document::Document& document, const Style& style);

}  // namespace paceline::report
