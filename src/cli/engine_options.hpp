#pragma once

#include <CLI/CLI.hpp>

#include "cli/arms.hpp"

namespace paceline::cli {

/// Options that say which models run, how drafts are made and on what.
void add_engine_options(CLI::App& command, ArmSettings& arms);

/// Options of the sampler, by llama-server's names.
void add_sampling_options(CLI::App& command, trace::Sampling& sampling);

}  // namespace paceline::cli
