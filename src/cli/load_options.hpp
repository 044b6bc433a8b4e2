#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/server_options.hpp"
#include "study/plan.hpp"
#include "util/result.hpp"

namespace paceline::cli {

void add_load_options(CLI::App& command, study::LoadOptions& loads);

/// Refuses loads that cannot be put on anything, or that are none.
util::Result<void> check_load_options(const study::LoadOptions& loads,
                                      const ServerSettings& server);

/// Slots that a server needs that is started for them: the highest level, else one.
int slots_for(const study::LoadOptions& loads);

/// What a plan says of its loads, a line each; empty without any.
std::vector<std::string> describe_loads(const study::LoadOptions& loads, std::size_t prompts);

}  // namespace paceline::cli
