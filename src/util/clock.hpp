#pragma once

#include <string>

namespace paceline::util {

/// Now in UTC as 2026-11-29T14:03:05Z. For labels only: durations use steady_clock.
std::string utc_now();

/// The same of so many seconds ago.
std::string utc_ago(double seconds);

/// A duration for people: "48 s", "3 min 10 s", "2 h 5 min".
std::string for_people(double seconds);

}  // namespace paceline::util
