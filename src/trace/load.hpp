#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/request.hpp"

namespace paceline::trace {

enum class LoadLoop {
  closed,  ///< a number of requests is kept in flight
  open,    ///< requests are sent when they are due, whatever still runs
};

/// Many requests at once on one launch: those of one level of concurrency or one rate.
struct LoadCell {
  LoadLoop loop = LoadLoop::closed;
  int level = 0;          ///< requests kept in flight; 0 in an open loop
  double rate_per_s = 0;  ///< requests due per second on average; 0 in a closed loop
  int planned = 0;        ///< requests that were to be sent; those that were are in `requests`
  Nanoseconds began_ns = 0;
  Nanoseconds ended_ns = 0;
  std::vector<Request> requests;                  ///< in the order in which they were sent
  std::map<std::string, double> counters_before;  ///< by the engine's own names; empty: none
  std::map<std::string, double> counters_after;
  std::optional<double> client_cpu_s;  ///< CPU that this program spent on the cell's requests
  std::optional<double> lag_p50_s;     ///< how late it looked at what had arrived
  std::optional<double> lag_p99_s;
  std::optional<double> lag_max_s;
};

}  // namespace paceline::trace
