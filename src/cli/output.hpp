#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "report/terminal.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// How text on that stream looks: colour and width are those of a terminal, if it is one.
report::Style style_for(FILE* stream);

/// The stream for text: standard output, unless that is where the JSON goes.
FILE* text_stream(const std::optional<std::string>& json_path);

/// Writes text to its stream and JSON to a file, or to standard output for "-".
util::Result<void> write_out(const std::string& text, const std::string& json,
                             const std::optional<std::string>& json_path);

}  // namespace paceline::cli
