#pragma once

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// The settings in force that filter or reshape the text though nobody asked for them.
std::vector<trace::SamplingSetting> hidden_defaults(const trace::EffectiveSampling& sampling);

RequestedSampling to_requested(const trace::Sampling& sampling);

/// What was asked for, what was in force, and what filtered the text though nobody asked for it
/// (F6); of the first arm and the first launch that opened.
Sampling to_sampling(const trace::Trace& trace);

}  // namespace paceline::document
