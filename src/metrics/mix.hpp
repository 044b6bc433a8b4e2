#pragma once

#include <map>
#include <string>

#include "metrics/sample.hpp"
#include "metrics/summary.hpp"

namespace paceline::metrics {

/// Predictability-adjusted throughput (DEFINITIONS 7) of an arm, from its samples by class. All
/// samples are of the same launches.
void fill_mix(ArmSummary& arm, const std::map<std::string, Sample>& samples, const trace::Mix& mix);

/// Why a class has no part in a figure of several classes (DEFINITIONS 7); empty where it has.
/// `sample` is null where the class was not measured.
std::string reason_against_class(const std::string& name, const Sample* sample);

}  // namespace paceline::metrics
