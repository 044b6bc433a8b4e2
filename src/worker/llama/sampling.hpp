#pragma once

#include "common.h"
#include "llama.h"
#include "sampling.h"
#include "trace/facts.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// Sampling as the library gets it, and as it is told: each setting with who decided it.
struct ResolvedSampling {
  common_params_sampling parameters;
  trace::EffectiveSampling effective;
};

/// llama.cpp's defaults, over them what the model's file recommends, over them what was asked for,
/// as llama-server has it; the tool's temperature stands where neither of the last two has one.
/// Refuses values that no sampler can run with, on some of which llama.cpp would abort.
util::Result<ResolvedSampling> resolve_sampling(const llama_model* model,
                                                const trace::Sampling& requested);

/// The difference between the two largest of `count` logits; infinite when there is only one.
double top2_gap(const float* logits, int count);

}  // namespace paceline::worker
