#pragma once

#include "common.h"
#include "llama.h"
#include "sampling.h"
#include "trace/facts.hpp"
#include "trace/setup.hpp"

namespace paceline::worker {

/// llama.cpp's sampling parameters: its defaults, over them what the model's file recommends, over
/// them what was asked for, as llama-server has it.
common_params_sampling sampling_parameters(const llama_model* model,
                                           const trace::Sampling& requested);

/// Every parameter in force and the chain as the library built it.
trace::EffectiveSampling effective_sampling(const llama_model* model,
                                            const trace::Sampling& requested);

/// The difference between the two largest of `count` logits; infinite when there is only one.
double top2_gap(const float* logits, int count);

}  // namespace paceline::worker
