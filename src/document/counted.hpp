#pragma once

#include <algorithm>
#include <string>

#include "metrics/counts.hpp"
#include "metrics/sample.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// Calls visit(launch, request) for every request that headline figures are made of.
template <class Visit>
void for_each_counted(const trace::Trace& trace, Visit visit) {
  for (const auto& arm : trace.header.arms)
    for (const trace::Launch* launch : metrics::counted_launches(trace, arm.name))
      for (const auto& request : launch->requests)
        if (metrics::is_measured(request) && metrics::count_request(request))
          visit(*launch, request);
}

/// Facts of the first launch of an arm that opened; null when none did. An empty name is any arm.
inline const trace::EngineFacts* first_facts(const trace::Trace& trace, const std::string& arm) {
  for (const auto& launch : trace.launches)
    if (launch.facts && (arm.empty() || launch.arm == arm)) return &*launch.facts;
  return nullptr;
}

/// The last part of a path: where a file lies on somebody's disk is nobody else's business.
inline std::string file_name(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace paceline::document
