#pragma once

#include <string>
#include <string_view>

#include "synth/builder.hpp"
#include "util/result.hpp"

namespace paceline::synth {

/// What the head of a model's file says of what a drafter needs, or why it can have none.
util::Result<Target> read_target(const std::string& path);

/// The shape of a drafter of that kind where nothing else is asked for: what has to be the target's
/// is, and of the rest it is small beside it.
Shape drafter_shape(std::string_view kind, const Target& target);

/// Whether a drafter of that kind and shape runs with the target, or why not.
util::Result<void> check_fits(std::string_view kind, const Shape& shape, const Target& target);

}  // namespace paceline::synth
