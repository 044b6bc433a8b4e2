// The read bandwidth that Paceline's probe finds over that of stream_read, a plain loop compiled
// with other flags, by number of threads. The two take turns, ABBA, each on memory of its own and
// best of equally many repeats; the ratio is of each pair, its interval over the pairs.

#include "machine/probe/bandwidth.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "child.hpp"
#include "machine/machine.hpp"
#include "machine/probe/topology.hpp"
#include "metrics/interval.hpp"

namespace {

namespace machine = paceline::machine;
namespace util = paceline::util;

struct Settings {
  std::string stream_read;
  int pairs = 12;
  double seconds = 0.5;
};

/// One number of threads, on buffers of so many bytes; every best is one of `repeats`.
struct Case {
  int threads = 0;
  std::uint64_t bytes = 0;
  std::size_t repeats = 0;
};

util::Result<std::vector<double>> our_samples(const Case& each, double seconds) {
  PACELINE_TRY_ASSIGN(
      auto probe, machine::BandwidthProbe::make({.threads = each.threads, .bytes = each.bytes}));
  return probe.samples(seconds);
}

util::Result<double> ours(const Case& each, const Settings& settings) {
  std::vector<double> samples;
  while (samples.size() < each.repeats) {
    PACELINE_TRY_ASSIGN(const auto more, our_samples(each, settings.seconds));
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return *std::max_element(samples.begin(),
                           samples.begin() + static_cast<std::ptrdiff_t>(each.repeats));
}

util::Result<double> theirs(const Case& each, const Settings& settings) {
  PACELINE_TRY_ASSIGN(
      const auto ran,
      paceline::bench::run_to_end({settings.stream_read, std::to_string(each.threads),
                                   std::to_string(each.bytes), std::to_string(each.repeats)}));
  const double rate = std::strtod(ran.output.c_str(), nullptr);
  if (rate > 0) return rate;
  return util::fail(util::ErrorKind::engine, "stream_read printed no bandwidth: " + ran.output);
}

struct Paired {
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
};

util::Result<Paired> measure(const Case& each, const Settings& settings) {
  Paired paired;
  for (int pair = 0; pair < settings.pairs; ++pair) {
    const bool ours_first = pair % 2 == 0;
    const auto first = ours_first ? ours(each, settings) : theirs(each, settings);
    const auto second = ours_first ? theirs(each, settings) : ours(each, settings);
    PACELINE_TRY_ASSIGN(const double our_rate, ours_first ? first : second);
    PACELINE_TRY_ASSIGN(const double their_rate, ours_first ? second : first);
    paired.ours.push_back(our_rate / 1e9);
    paired.theirs.push_back(their_rate / 1e9);
    paired.ratios.push_back(our_rate / their_rate);
  }
  return paired;
}

std::string shown(const std::vector<double>& values) {
  const auto estimate = paceline::metrics::over_launches(values);
  return fmt::format("{:8.3f} [{:.3f}-{:.3f}]", *estimate.value, *estimate.low, *estimate.high);
}

util::Result<void> run(const Settings& settings) {
  const auto facts = machine::read_machine();
  const auto topology = machine::read_topology();
  if (!facts.memory_available_bytes)
    return util::fail(util::ErrorKind::internal, "/proc/meminfo does not say what memory is left");
  fmt::print("{}, {} logical cores; n = {} pairs, ABBA; means with 95 % over pairs\n",
             facts.processor.value_or("unknown processor"), facts.cores_online.value_or(0),
             settings.pairs);
  fmt::print("{:>7}  {:>6}  {:>7}  {:<26}  {:<26}  ratio\n", "threads", "MiB", "best of",
             "paceline, GB/s", "stream_read, GB/s");
  const int cpus = machine::usable_cpus();
  for (int threads = 1;; threads = std::min(2 * threads, cpus)) {
    Case each{threads, machine::enough_bytes(topology, threads, *facts.memory_available_bytes), 0};
    PACELINE_TRY_ASSIGN(const auto pilot, our_samples(each, settings.seconds));
    each.repeats = pilot.size();
    PACELINE_TRY_ASSIGN(const Paired paired, measure(each, settings));
    fmt::print("{:>7}  {:>6}  {:>7}  {:<26}  {:<26}  {}\n", threads, each.bytes >> 20, each.repeats,
               shown(paired.ours), shown(paired.theirs), shown(paired.ratios));
    if (threads == cpus) return {};
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  settings.stream_read = (self.parent_path() / "stream_read").string();
  CLI::App app("The read bandwidth of Paceline's probe over that of a plain loop.", "bandwidth");
  app.add_option("--pairs", settings.pairs, "pairs that take turns")
      ->type_name("PAIRS")
      ->check(CLI::Range(3, 10000))
      ->capture_default_str();
  app.add_option("--seconds", settings.seconds, "time of our samples in each turn")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  if (const auto measured = run(settings); !measured) {
    fmt::print(stderr, "bandwidth: {}\n", measured.error().message);
    return 1;
  }
  return 0;
}
