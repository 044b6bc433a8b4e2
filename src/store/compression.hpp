#pragma once

#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::store {

/// A line as a zstd frame with a checksum.
util::Result<std::string> compress(std::string_view line);

/// The line in a frame from anywhere; an error when it is damaged, or longer than 256 MiB.
util::Result<std::string> decompress(std::string_view frame);

}  // namespace paceline::store
