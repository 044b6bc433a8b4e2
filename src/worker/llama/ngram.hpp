#pragma once

#include "trace/setup.hpp"
#include "util/result.hpp"

struct common_params_speculative;

namespace paceline::worker {

/// The sizes an n-gram drafter of `type` will run with: those asked for, else llama.cpp's defaults.
/// Refuses sizes of another type, sizes that llama-server refuses, and those that never draft.
util::Result<trace::NgramSizes> effective_sizes(trace::SpecType type,
                                                const trace::NgramSizes& asked);

/// The sizes with another longest draft; those of ngram-cache, which has one only, as they are.
trace::NgramSizes with_longest(trace::NgramSizes sizes, int n_max);

/// Hands effective sizes to the library.
void set_sizes(trace::SpecType type, const trace::NgramSizes& sizes,
               common_params_speculative& parameters);

}  // namespace paceline::worker
