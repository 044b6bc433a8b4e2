#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

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

/// Refuses a --json that would be written over one of `inputs` or over any model, which would
/// destroy what the document is made from, and one that cannot be written at all.
util::Result<void> check_json_path(const std::optional<std::string>& json_path,
                                   const std::vector<std::string>& inputs);

}  // namespace paceline::cli
