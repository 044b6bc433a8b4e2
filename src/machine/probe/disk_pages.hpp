#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "util/result.hpp"

namespace paceline::machine {

/// Maps `bytes` of a file from `offset` on, as llama.cpp maps a table of which it reads rows when
/// they are needed, and asks for rows of `row_bytes` in random order, for `for_s` or until 256 had
/// to come from disk. What each page of those took, in nanoseconds; empty: memory held all that
/// were asked for. The error says why it cannot be measured here.
util::Result<std::vector<double>> ns_per_disk_page(const std::string& path, std::uint64_t offset,
                                                   std::uint64_t bytes, std::uint64_t row_bytes,
                                                   std::uint64_t seed, double for_s);

}  // namespace paceline::machine
