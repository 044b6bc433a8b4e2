#pragma once

#include <string>
#include <vector>

#include "cli/program.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

// Each adds one subcommand to `app` and, once it is chosen, sets `action`.

void add_run(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_fill(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_machine(CLI::App& app, Action& action);
void add_synth(CLI::App& app, Action& action);
void add_roofline(CLI::App& app, Action& action);
void add_score(CLI::App& app, Action& action);
void add_history(CLI::App& app, Action& action);
void add_claim(CLI::App& app, Action& action);
void add_completions(CLI::App& app, Action& action);
void add_manual(CLI::App& app, Action& action);

/// `mock` is for tests: hidden from help, manual and completions. It is started as if it were
/// llama-server, so its arguments are read with llama-server's names of several letters behind one
/// dash, in the order that CLI11 takes them.
void add_mock(CLI::App& app, Action& action);
bool imitates_a_server(int argc, char** argv);
std::vector<std::string> mock_arguments_reversed(int argc, char** argv);

}  // namespace paceline::cli
