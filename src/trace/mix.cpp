#include "trace/mix.hpp"

#include <fmt/format.h>

#include <cmath>

namespace paceline::trace {

namespace {
constexpr double share_tolerance = 1e-6;  // what rounding in a file of six digits can do
}

std::string reason_against(const Mix& mix) {
  if (mix.classes.empty()) return "the mix names no class";
  double sum = 0;
  for (const auto& [name, item] : mix.classes) {
    if (!(item.share >= 0)) return fmt::format("the mix gives class {} a share below 0", name);
    sum += item.share;
  }
  if (std::abs(sum - 1) <= share_tolerance) return "";
  return fmt::format("the shares of the mix add up to {:.6g}, not 1", sum);
}

}  // namespace paceline::trace
