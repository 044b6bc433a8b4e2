#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/depth_options.hpp"
#include "study/plan.hpp"
#include "util/result.hpp"
#include "workload/selection.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

/// What the options say about prompts. What they leave open follows from the model.
struct WorkloadSettings {
  std::optional<std::string> workload;  ///< name or file
  std::string format = "auto";
  std::vector<std::string> classes;
  int prompts_per_class = 12;
  int held_out_per_class = 0;  ///< more of each, that nothing is chosen by
  std::string form = "auto";
  std::optional<std::string> mix;  ///< shares, or a .toml file
  bool image = false;
  DepthSettings depths;
};

void add_workload_options(CLI::App& command, WorkloadSettings& settings);

/// Fills in the prompts, their form and the mix of a run. `defaults` are the model's.
util::Result<void> choose_workload(const WorkloadSettings& settings,
                                   const workload::Defaults& defaults, study::RunOptions& run);

}  // namespace paceline::cli
