#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "protocol/job.hpp"

namespace paceline::study {

/// A beginning that no cache has seen.
inline void put_salt(protocol::Generate& job, std::uint32_t seed) {
  std::string& text = job.messages.empty() ? job.prompt : job.messages.front().content;
  text.insert(0, fmt::format("[{:08x}] ", seed));
}

}  // namespace paceline::study
