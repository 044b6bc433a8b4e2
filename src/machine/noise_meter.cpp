#include "machine/noise_meter.hpp"

#include <unistd.h>

#include <array>
#include <limits>
#include <utility>

#include "machine/proc_text.hpp"

namespace paceline::machine {

namespace {

/// A counter's growth; absent where it is not counted, or went backwards.
template <class Number>
std::optional<Number> grown(const std::optional<Number>& from, const std::optional<Number>& to) {
  if (!from || !to || *to < *from) return std::nullopt;
  return *to - *from;
}

/// user, nice, system, idle, iowait, irq, softirq, steal. The two guest columns that follow are
/// counted in user and nice already.
constexpr std::size_t stat_columns = 8;
constexpr std::size_t steal_column = 7;

}  // namespace

std::optional<CpuTicks> parse_stat(std::string_view stat) {
  for (const auto line : split(stat, '\n')) {
    const auto fields = words(line);
    if (fields.empty() || fields[0] != "cpu") continue;
    if (fields.size() < 1 + stat_columns) return std::nullopt;
    CpuTicks ticks;
    for (std::size_t column = 0; column < stat_columns; ++column) {
      const auto value = parse_number<std::uint64_t>(fields[1 + column]);
      if (!value || *value > std::numeric_limits<std::uint64_t>::max() - ticks.total)
        return std::nullopt;
      ticks.total += *value;
      if (column == steal_column) ticks.steal = *value;
    }
    return ticks;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_pressure(std::string_view pressure) {
  constexpr std::string_view key = "total=";
  for (const auto line : split(pressure, '\n')) {
    const auto fields = words(line);
    if (fields.empty() || fields[0] != "some") continue;
    for (const auto field : fields)
      if (field.substr(0, key.size()) == key)
        return parse_number<std::uint64_t>(field.substr(key.size()));
  }
  return std::nullopt;
}

NoiseMeter::NoiseMeter(std::filesystem::path proc, const std::filesystem::path& cpus)
    : proc_(std::move(proc)), clocks_(cpus) {}

void NoiseMeter::start(std::optional<pid_t> engine) {
  engine_ = engine;
  start_ = read();
}

NoiseMeter::Reading NoiseMeter::read() const {
  Reading reading;
  reading.at = std::chrono::steady_clock::now();
  reading.ticks = parse_stat(read_text(proc_ / "stat").value_or(""));
  reading.pressure_us = parse_pressure(read_text(proc_ / "pressure" / "cpu").value_or(""));
  reading.clock_mhz = clocks_.mean_mhz();
  reading.throttled = clocks_.throttled();
  if (!engine_) return reading;
  reading.processes = read_process_times(proc_);
  reading.switches = involuntary_switches(reading.processes, *engine_, proc_);
  return reading;
}

trace::Noise NoiseMeter::stop() const {
  const Reading end = read();
  trace::Noise noise;
  noise.elapsed_s = std::chrono::duration<double>(end.at - start_.at).count();
  // A counter that went backwards (a suspended or migrated machine) tells nothing.
  const bool ticks_known = start_.ticks && end.ticks && end.ticks->total >= start_.ticks->total &&
                           end.ticks->steal >= start_.ticks->steal;
  const long ticks_per_s = sysconf(_SC_CLK_TCK);
  if (ticks_known && ticks_per_s > 0) {
    const auto per_s = static_cast<double>(ticks_per_s);
    noise.steal_s = static_cast<double>(end.ticks->steal - start_.ticks->steal) / per_s;
    noise.cpu_s = static_cast<double>(end.ticks->total - start_.ticks->total) / per_s;
  }
  if (const auto pressure_us = grown(start_.pressure_us, end.pressure_us))
    noise.pressure_s = static_cast<double>(*pressure_us) / 1e6;
  if (start_.clock_mhz && end.clock_mhz) noise.clock_mhz = (*start_.clock_mhz + *end.clock_mhz) / 2;
  noise.throttled = grown(start_.throttled, end.throttled);
  noise.involuntary_switches = grown(start_.switches, end.switches);
  if (engine_) noise.neighbour = busiest_neighbour(start_.processes, end.processes, *engine_);
  return noise;
}

}  // namespace paceline::machine
