#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "machine/clocks.hpp"
#include "machine/process_times.hpp"
#include "trace/request.hpp"

namespace paceline::machine {

/// CPU time of all cores since the machine started, in units of 1/USER_HZ seconds.
struct CpuTicks {
  std::uint64_t steal = 0;
  std::uint64_t total = 0;  ///< idle and steal included
};

/// The sum over all cores from /proc/stat; absent when its text has none.
std::optional<CpuTicks> parse_stat(std::string_view stat);

/// Microseconds in which some task waited for a CPU, from /proc/pressure/cpu; absent when its
/// text has none.
std::optional<std::uint64_t> parse_pressure(std::string_view pressure);

/// Load of the machine between two moments. Reads small files at each of them and does nothing in
/// between, so that measuring adds no noise of its own.
class NoiseMeter {
 public:
  /// `proc` and `cpus` are the folders where the system's files are: others in tests.
  explicit NoiseMeter(std::filesystem::path proc = "/proc",
                      const std::filesystem::path& cpus = "/sys/devices/system/cpu");

  /// `engine` is the group of the engine's processes; absent: they are not on this machine, and
  /// nothing is said of processes.
  void start(std::optional<pid_t> engine = std::nullopt);

  /// What happened since start(). steal_s and cpu_s are both 0 when /proc/stat cannot tell,
  /// which no real stretch of time is; everything else is absent where the system does not say it.
  trace::Noise stop() const;

 private:
  struct Reading {
    std::optional<CpuTicks> ticks;
    std::optional<std::uint64_t> pressure_us;
    std::optional<double> clock_mhz;
    std::optional<long> throttled;
    ProcessTimes processes;
    std::optional<long> switches;
    std::chrono::steady_clock::time_point at;
  };
  Reading read() const;

  std::filesystem::path proc_;
  Clocks clocks_;
  std::optional<pid_t> engine_;
  Reading start_;
};

}  // namespace paceline::machine
