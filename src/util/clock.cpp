#include "util/clock.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace paceline::util {

std::string utc_now() { return utc_ago(0); }

std::string utc_ago(double seconds) {
  const std::time_t now = std::time(nullptr) - static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string for_people(double seconds) {
  const auto whole = static_cast<long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace paceline::util
