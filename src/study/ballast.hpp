#pragma once

#include <filesystem>
#include <functional>

#include "engine/engine.hpp"

namespace paceline::study {

/// How much dead weight a laboratory target is given, so that reading it takes time as with a
/// model of ordinary size while its outputs stay the same.
struct Ballast {
  int extra_layers = 0;
  int feed_forward = 0;
};

/// The ballasted copy of `target` in `folder`, written by `engine` unless it is there already,
/// undamaged.
util::Result<std::filesystem::path> ballasted(const std::filesystem::path& target,
                                              const Ballast& ballast,
                                              const std::filesystem::path& folder,
                                              engine::Engine& engine,
                                              const std::function<bool()>& stop_asked);

}  // namespace paceline::study
