#pragma once

#include <cstdint>
#include <string>

#include "util/result.hpp"

namespace paceline::cli {

/// Bytes of "500MB", "4GB", "4.5GiB" or a plain number of bytes.
util::Result<std::uint64_t> parse_size(const std::string& text);

/// Tokens of "4096", "4k" (of 1024) or "0".
util::Result<int> parse_token_count(const std::string& text);

}  // namespace paceline::cli
