#pragma once

#include "cli/program.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

// Each adds one subcommand to `app` and, once it is chosen, sets `action`.

void add_run(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_machine(CLI::App& app, Action& action);
void add_completions(CLI::App& app, Action& action);
void add_manual(CLI::App& app, Action& action);
void add_mock(CLI::App& app, Action& action);

}  // namespace paceline::cli
