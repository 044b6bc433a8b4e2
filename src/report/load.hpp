#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// Many requests at once: tokens per second by arm and load, what they are made of, latencies and
/// where speculation stops paying; empty where one request ran at a time.
std::string load_tables(const document::Document& document, const Style& style, Notes& notes);

}  // namespace paceline::report
