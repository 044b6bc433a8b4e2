#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::store {

inline constexpr std::size_t longest_line = std::size_t{1} << 30;

/// A line as a zstd frame with a checksum; an error when it is longer than decompress takes.
util::Result<std::string> compress(std::string_view line);

/// The line in a frame from anywhere; an error when it is damaged, or longer than `longest` bytes.
util::Result<std::string> decompress(std::string_view frame, std::size_t longest = longest_line);

}  // namespace paceline::store
