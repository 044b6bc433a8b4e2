#include "machine/machine.hpp"

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
#include "util/clock.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

constexpr auto listening = std::chrono::seconds(1);

constexpr const char* about_machine =
    "Says what this machine is and does now: processor, caches, memory, clocks, hypervisor, the "
    "devices that ggml sees, and load, stolen time and pressure over about a second.";

util::Result<int> machine(const std::optional<std::string>& json) {
  PACELINE_TRY(check_json_path(json, {}));
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
  engine.close();
  if (util::interrupted()) return exit_interrupted;
  PACELINE_TRY(write_out(report::machine(result, style_for(text_stream(json))),
                         document::to_json_text(result) + "\n", json));
  return 0;
}

}  // namespace

void add_machine(CLI::App& app, Action& action) {
  const auto json = std::make_shared<std::optional<std::string>>();
  CLI::App* command = app.add_subcommand("machine", about_machine);
  command->add_option("--json", *json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("no document");
  command->footer("Example:\n  paceline machine --json machine.json");
  command->callback([json, &action] { action = [json] { return machine(*json); }; });
}

}  // namespace paceline::cli
