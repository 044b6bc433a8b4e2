#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cli/arms.hpp"
#include "cli/derivation_options.hpp"
#include "cli/measure.hpp"
#include "cli/server_options.hpp"
#include "cli/workload_options.hpp"
#include "engine/engine.hpp"
#include "study/plan.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

/// What the options of a command say that measures: run, fill and the studies made of runs.
struct RunSettings {
  ArmSettings arms;
  /// Makes the arms once the files are known.
  std::function<util::Result<std::vector<trace::Arm>>(const ArmSettings&)> make_arms =
      cli::make_arms;
  DerivationSettings copies;
  ServerSettings server;
  WorkloadSettings workload;
  Output output;
  study::RunOptions run;
  std::optional<int> widest;
  bool price_defaults = false;
  bool context_given = false;  ///< by -c; set while options are read
};

/// Options of everything that measures. `settings` must live as long as `app`.
void add_run_options(CLI::App& app, RunSettings& settings);

/// Turns what was said into the options of a run, reading the files that it names; the engines to
/// run it on. What cannot work is refused here, not after something was measured.
util::Result<engine::EngineFactory> plan_run(RunSettings& settings);

}  // namespace paceline::cli
