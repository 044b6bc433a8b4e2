#pragma once

#include <cstdint>
#include <string>

namespace paceline::workload {

inline constexpr int picture_side = 64;  ///< pixels, of its width and its height

/// A PNG of 64 by 64 pixels in colour, the same for the same seed on every machine and another one
/// for every other: a server that keeps pictures it has encoded has not seen it.
std::string picture(std::uint32_t seed);

/// The same as a data: URL, as chat messages carry pictures.
std::string picture_url(std::uint32_t seed);

}  // namespace paceline::workload
