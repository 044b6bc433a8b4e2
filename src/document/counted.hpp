#pragma once

#include <algorithm>
#include <string>

#include "trace/trace.hpp"

namespace paceline::document {

/// Whether headline figures rest on the request: no warm-up, not synced, ran to its end.
inline bool is_counted(const trace::Request& request) {
  return !request.warm_up && !request.synced && request.outcome.kind == trace::OutcomeKind::done;
}

/// Calls visit(launch, request) for every counted request of the launches that ended well.
template <class Visit>
void for_each_counted(const trace::Trace& trace, Visit visit) {
  for (const auto& launch : trace.launches) {
    if (launch.outcome.kind != trace::OutcomeKind::done) continue;
    for (const auto& request : launch.requests)
      if (is_counted(request)) visit(launch, request);
  }
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
