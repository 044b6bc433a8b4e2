#include "study/machine_probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine/machine.hpp"
#include "study/inspect.hpp"
#include "util/clock.hpp"
#include "util/files.hpp"

namespace paceline::study {

namespace {

constexpr double devices_s = 3;
/// A tensor is held by the host and by the device.
constexpr std::uint64_t most_device_bytes = 512u << 20;

tl::unexpected<util::Error> stopped() {
  return util::fail(util::ErrorKind::internal, "the probe was stopped");
}

void add_devices(machine::Survey& survey, std::uint64_t bytes, engine::Engine& engine,
                 const ProbeWatch& watch) {
  auto speeds = probe_devices(engine, bytes, survey.key.cpus, watch.stop_asked);
  if (speeds) survey.devices = std::move(speeds->list);
  if (!speeds) survey.devices_reason = speeds.error().message;
  if (speeds && survey.devices.empty()) survey.devices_reason = "ggml sees no device";
}

util::Result<machine::Survey> measure(const machine::SurveyKey& key, engine::Engine& engine,
                                      const ProbeWatch& watch) {
  const machine::MachineFacts facts = machine::read_machine();
  if (!facts.memory_available_bytes)
    return util::fail(util::ErrorKind::internal, "/proc/meminfo does not say what memory is left");
  const machine::Topology topology = machine::read_topology();
  const auto plan = machine::plan_survey(topology, key.cpus, *facts.memory_available_bytes);
  const double total_s = plan.expected_s + devices_s;
  watch.say(fmt::format("Probing the memory, about {}: {}, and ggml's devices.",
                        util::for_people(total_s), plan.says()));
  const double began_s = machine::seconds_since_boot();
  auto survey = machine::take_survey(plan, [&](double done, const std::string& next) {
    watch.progress(done * plan.expected_s, total_s, next);
    return !watch.stop_asked();
  });
  if (!survey) return stopped();
  survey->key = key;
  survey->available_bytes = *facts.memory_available_bytes;
  watch.progress(plan.expected_s, total_s, "ggml's devices");
  add_devices(*survey, std::min(most_device_bytes, plan.bandwidth.front().setup.bytes), engine,
              watch);
  if (watch.stop_asked()) return stopped();
  survey->created = util::utc_now();
  survey->booted_s = machine::seconds_since_boot();
  survey->took_s = survey->booted_s - began_s;
  return *survey;
}

/// The kept survey, if it can be used; says why not where there is one.
std::optional<machine::Survey> kept(const std::filesystem::path& path,
                                    const machine::SurveyKey& key, const ProbeWatch& watch) {
  const auto text = util::read_file(path);
  if (!text) return std::nullopt;
  auto survey = machine::parse_survey(*text, key, machine::seconds_since_boot());
  if (survey) return std::move(*survey);
  watch.say(fmt::format("The probe kept in {} is measured again: {}.", path.string(),
                        survey.error().message));
  return std::nullopt;
}

}  // namespace

util::Result<machine::Survey> probe_machine(const ProbeOptions& options, engine::Engine& engine,
                                            const ProbeWatch& watch) {
  const auto key = machine::survey_key();
  if (key && !options.fresh)
    if (auto survey = kept(options.kept_at, *key, watch)) return *survey;
  auto survey =
      measure(key.value_or(machine::SurveyKey{"", "", machine::usable_cpus()}), engine, watch);
  if (!survey || !key) return survey;
  std::error_code exists;
  std::filesystem::create_directories(options.kept_at.parent_path(), exists);
  if (const auto written = util::write_file(options.kept_at, machine::survey_text(*survey));
      !written)
    watch.say(fmt::format("The probe is not kept: {}.", written.error().message));
  return survey;
}

}  // namespace paceline::study
