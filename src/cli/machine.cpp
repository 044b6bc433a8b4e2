#include "machine/machine.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/output.hpp"
#include "document/json.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "machine/noise_meter.hpp"
#include "report/machine.hpp"
#include "study/inspect.hpp"
#include "study/machine_probe.hpp"
#include "util/clock.hpp"
#include "util/console.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"
#include "util/progress.hpp"

namespace paceline::cli {

namespace {

constexpr auto listening = std::chrono::seconds(1);

constexpr const char* about_machine =
    "Says what this machine is and does now: processor, caches, memory, clocks, hypervisor, the "
    "devices that ggml sees, and load, stolen time and pressure over about a second. --probe also "
    "measures the memory: bandwidth by threads, random rows, copies to and from devices.";

struct Settings {
  std::optional<std::string> json;
  std::optional<std::string> probe;  ///< "fresh" or "kept"; absent: none is asked for
};

document::Known<document::Probe> probed(const Settings& settings, engine::Engine& engine) {
  if (!settings.probe)
    return document::not_known<document::Probe>("not asked for: --probe measures the memory");
  util::Progress progress(::isatty(STDERR_FILENO) != 0);
  const study::ProbeWatch watch{util::say,
                                [&](double done, double total, const std::string& next) {
                                  progress.update(done, total, next);
                                },
                                util::interrupted};
  const auto survey = study::probe_machine(
      {util::cache_folder() / "machine-probe.json", settings.probe == "fresh"}, engine, watch);
  progress.clear();
  if (!survey) return document::not_known<document::Probe>(survey.error().message);
  return document::known(document::to_probe(*survey, machine::seconds_since_boot()));
}

util::Result<int> machine(const Settings& settings) {
  PACELINE_TRY(check_json_path(settings.json, {}));
  document::MachineReport result;
  result.tool = {"paceline", PACELINE_VERSION};
  result.created = util::utc_now();
  // Before the worker starts, whose own load is none of the machine's.
  machine::NoiseMeter meter;
  meter.start();
  std::this_thread::sleep_for(listening);
  result.now = document::to_load_now(meter.stop());
  result.machine = document::to_machine(machine::read_machine());
  engine::embedded::EmbeddedEngine engine(worker_program());
  result.devices = document::to_devices(study::list_devices(engine, util::interrupted));
  if (!util::interrupted()) result.probe = probed(settings, engine);
  engine.close();
  if (util::interrupted()) return exit_interrupted;
  PACELINE_TRY(write_out(report::machine(result, style_for(text_stream(settings.json))),
                         document::to_json_text(result) + "\n", settings.json));
  return 0;
}

}  // namespace

void add_machine(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("machine", about_machine);
  command->add_option("--json", settings->json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("no document");
  command
      ->add_option(
          "--probe", settings->probe,
          "Measure the memory, in under 30 s, or show what was kept of it since the machine "
          "was started; fresh measures again")
      ->expected(0, 1)
      ->check(CLI::IsMember({"kept", "fresh"}))
      ->type_name("WHICH")
      ->default_str("kept");
  command->footer(
      "Examples:\n  paceline machine --json machine.json\n  paceline machine --probe\n"
      "  paceline machine --probe=fresh");
  command->callback([settings, &action] { action = [settings] { return machine(*settings); }; });
}

}  // namespace paceline::cli
