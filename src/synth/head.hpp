#pragma once

#include "model/gguf.hpp"
#include "synth/plan.hpp"

namespace paceline::synth {

/// The head of the file that the plan would be written as, without the tokenizer's keys, so that
/// what is known of files by their heads is known of a plan too.
model::Gguf head_of(const Plan& plan);

}  // namespace paceline::synth
