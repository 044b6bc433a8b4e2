#pragma once

#include <vector>

#include "cli/arms.hpp"

namespace paceline::cli {

/// True when some type of a KV cache was asked for.
bool asks_kv_types(const ArmSettings& settings);

/// True of an arm whose drafter has a KV cache of its own.
bool has_drafter_cache(const trace::Setup& setup);

/// Each arm with each choice of types of its KV caches, the arms of one choice together. Names say
/// what differs between choices, as in "mtp-n3@k:q8_0,v:f16", and an arm is held against the plain
/// one of its own choice.
std::vector<trace::Arm> with_kv_types(const ArmSettings& settings,
                                      const std::vector<trace::Arm>& arms);

}  // namespace paceline::cli
