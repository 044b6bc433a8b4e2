#include "machine/clocks.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <system_error>

#include "machine/proc_text.hpp"

namespace paceline::machine {

namespace {

namespace fs = std::filesystem;

constexpr double khz_per_mhz = 1000;

std::optional<std::uint32_t> read_number(const fs::path& path) {
  return parse_number<std::uint32_t>(trimmed(read_text(path).value_or("")));
}

}  // namespace

Clocks::Clocks(const fs::path& cpus) {
  std::set<std::string> packages;
  std::error_code problem;
  for (fs::directory_iterator at(cpus, problem), end; !problem && at != end;
       at.increment(problem)) {
    const fs::path& core = at->path();
    if (read_number(core / "cpufreq/scaling_cur_freq"))
      clocks_.push_back(core / "cpufreq/scaling_cur_freq");
    if (read_number(core / "thermal_throttle/core_throttle_count"))
      counts_.push_back(core / "thermal_throttle/core_throttle_count");
    // Every core repeats its package's count.
    const auto package = read_text(core / "topology/physical_package_id");
    if (read_number(core / "thermal_throttle/package_throttle_count") && package &&
        packages.insert(*package).second)
      counts_.push_back(core / "thermal_throttle/package_throttle_count");
  }
}

std::optional<double> Clocks::mean_mhz() const {
  double sum = 0;
  int cores = 0;
  for (const auto& path : clocks_)
    if (const auto khz = read_number(path)) {
      sum += *khz / khz_per_mhz;
      ++cores;
    }
  if (cores == 0) return std::nullopt;
  return sum / cores;
}

std::optional<long> Clocks::throttled() const {
  std::optional<long> sum;
  for (const auto& path : counts_)
    if (const auto count = read_number(path)) sum = sum.value_or(0) + static_cast<long>(*count);
  return sum;
}

}  // namespace paceline::machine
