#pragma once

#include "metrics/estimate.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

/// How far a machine kept its speed over a session, from the launches that figures are made of.
struct Steadiness {
  Estimate launch_sd;       ///< relative standard deviation between launches of one arm
  Estimate drift_per_hour;  ///< relative change of the plain arms' speed an hour, -0.01: 1 % slower
};

Steadiness steadiness_of(const trace::Trace& trace);

}  // namespace paceline::metrics
