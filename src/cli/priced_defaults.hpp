#pragma once

#include <string>
#include <vector>

#include "trace/facts.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// The arms, each followed by itself without one default of the sampler that is in force and nobody
/// asked for, for every such default. `notes` gets a sentence for each that cannot be switched off.
/// An error when there is none to price.
util::Result<std::vector<trace::Arm>> with_priced_defaults(const std::vector<trace::Arm>& arms,
                                                           const trace::EffectiveSampling& in_force,
                                                           std::vector<std::string>& notes);

}  // namespace paceline::cli
