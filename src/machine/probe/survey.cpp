#include "machine/probe/survey.hpp"

#include <fmt/format.h>
#include <time.h>

#include <chrono>

#include "machine/machine.hpp"
#include "machine/proc_text.hpp"

namespace paceline::machine {

namespace {

constexpr int gather_samples = 5;
constexpr std::uint64_t gather_seed = 1;

BandwidthFigure measure(const SurveyPlan::Bandwidth& planned, double seconds) {
  const BandwidthSetup& setup = planned.setup;
  BandwidthFigure figure{setup.threads, planned.node, setup.access, setup.pages, 0, {}, {}, {}};
  auto probe = BandwidthProbe::make(setup);
  if (!probe) {
    figure.reason = probe.error().message;
    return figure;
  }
  figure.bytes = probe->bytes();
  figure.huge_bytes = probe->huge_bytes();
  if (auto samples = probe->samples(seconds))
    figure.bytes_per_s = std::move(*samples);
  else
    figure.reason = samples.error().message;
  return figure;
}

std::string next_bandwidth(const SurveyPlan::Bandwidth& planned) {
  return fmt::format("{} at {} thread{}", planned.setup.access == Access::read ? "reads" : "triad",
                     planned.setup.threads, planned.setup.threads == 1 ? "" : "s");
}

std::uint64_t largest_table(const SurveyPlan& plan) {
  std::uint64_t largest = 0;
  for (const auto& planned : plan.gather) largest = std::max(largest, planned.setup.table_bytes);
  return largest;
}

/// All gathers on one kind of pages, out of one buffer; false when told to stop.
bool gather_on(Pages pages, const SurveyPlan& plan, Survey& survey,
               const std::function<bool(const std::string&)>& go_on) {
  const std::uint64_t bytes = largest_table(plan);
  if (bytes == 0) return true;
  if (!go_on(fmt::format("a table of {} MiB", bytes >> 20))) return false;
  auto probe = GatherProbe::make(bytes, pages, plan.cache_bytes, gather_seed);
  if (!probe) {
    survey.gather_reason = probe.error().message;
    return true;
  }
  const auto huge_bytes = probe->huge_bytes();
  for (const auto& planned : plan.gather) {
    if (planned.pages != pages) continue;
    const GatherSetup& setup = planned.setup;
    if (!go_on(fmt::format("rows of {} bytes out of {} KiB", setup.row_bytes,
                           setup.table_bytes >> 10)))
      return false;
    survey.gather.push_back({setup.row_bytes, setup.table_bytes, setup.shift_bytes, setup.dependent,
                             pages, huge_bytes, bytes, probe->ns_per_row(setup, gather_samples)});
  }
  return true;
}

}  // namespace

std::optional<Survey> take_survey(const SurveyPlan& plan, const Watch& watch) {
  Survey survey;
  survey.seed = gather_seed;
  // Two steps more than are planned: a table for each kind of pages.
  const auto steps = static_cast<double>(plan.bandwidth.size() + plan.gather.size() + 2);
  double done = 0;
  const auto go_on = [&](const std::string& next) { return watch(done++ / steps, next); };
  for (const auto& planned : plan.bandwidth) {
    if (!go_on(next_bandwidth(planned))) return std::nullopt;
    survey.bandwidth.push_back(measure(planned, plan.bandwidth_s));
  }
  for (const Pages pages : {Pages::huge, Pages::small})
    if (!gather_on(pages, plan, survey, go_on)) return std::nullopt;
  if (plan.gather.empty()) survey.gather_reason = "too little memory is available for a table";
  return survey;
}

std::optional<SurveyKey> survey_key() {
  const auto boot = read_text("/proc/sys/kernel/random/boot_id");
  if (!boot || trimmed(*boot).empty()) return std::nullopt;
  const CpuInfo info = parse_cpuinfo(read_text("/proc/cpuinfo").value_or(""));
  return SurveyKey{std::string(trimmed(*boot)), info.processor.value_or(""), usable_cpus()};
}

double seconds_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace paceline::machine
