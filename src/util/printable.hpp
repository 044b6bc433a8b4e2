#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline::util {

/// One line of text that a terminal shows and never obeys: control characters, escape sequences,
/// bytes that are not UTF-8 and marks that turn the direction of writing come out as \xNN or
/// \uNNNN.
std::string printable(std::string_view hostile);

/// Columns that printable text takes: one per code point, none for combining marks.
std::size_t columns(std::string_view text);

}  // namespace paceline::util
