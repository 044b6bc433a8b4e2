#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace paceline::machine {

/// Where the system says how fast its cores run and how often they had to slow down. Looked for
/// once; most virtual machines show neither.
class Clocks {
 public:
  /// `cpus` is the folder of the cores: /sys/devices/system/cpu but for tests.
  explicit Clocks(const std::filesystem::path& cpus = "/sys/devices/system/cpu");

  /// Mean of the cores' present clocks in MHz; absent where none is shown.
  std::optional<double> mean_mhz() const;

  /// Times that a core throttled since boot, and that a package did; absent where none is counted.
  std::optional<long> throttled() const;

 private:
  std::vector<std::filesystem::path> clocks_;
  std::vector<std::filesystem::path> counts_;
};

}  // namespace paceline::machine
