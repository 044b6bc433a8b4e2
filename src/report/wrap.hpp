#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline::report {

/// The text on lines of at most `width` columns, broken at spaces, lines after the first indented;
/// ended by a newline. A word longer than a line stays whole.
std::string wrapped(std::string_view text, std::size_t indent, int width);

/// A labelled line: the text begins, and goes on, at column `text_column`.
std::string labelled(std::string_view label, std::string_view text, std::size_t text_column,
                     int width);

}  // namespace paceline::report
