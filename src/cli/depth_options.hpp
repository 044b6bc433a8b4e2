#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/plan.hpp"
#include "util/result.hpp"
#include "workload/prompt.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

/// How far the context is filled below the prompts, and with what.
struct DepthSettings {
  std::vector<std::string> depths;       ///< in tokens, as in "4k"; empty: not asked for
  std::optional<std::string> fill_text;  ///< file of the text
  bool to_the_end = false;               ///< where no depths are given: to the context's end

  bool any() const { return to_the_end || !depths.empty() || fill_text; }
};

void add_depth_options(CLI::App& command, DepthSettings& settings);

/// The depths of a run whose context has `n_ctx` tokens, of which outputs may take `n_predict`,
/// ascending; {0} where none were asked for.
util::Result<std::vector<int>> read_depths(const DepthSettings& settings, int n_ctx, int n_predict);

/// Gives a run the text that fills its context to its depths: the user's, or of `prompts` those
/// that the run does not measure.
util::Result<void> choose_fill(const DepthSettings& settings,
                               const std::vector<workload::Prompt>& prompts,
                               study::RunOptions& run);

}  // namespace paceline::cli
