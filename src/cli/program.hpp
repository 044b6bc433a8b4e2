#pragma once

#include <functional>

#include "util/result.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

/// Runs a subcommand; its exit code, or the error to print.
using Action = std::function<util::Result<int>()>;

/// What the command line asks for. Without an action everything is said already (help, version,
/// a mistake in the options) and `exit_code` is what to end with.
struct Command {
  Action run;
  int exit_code = 0;
};

/// Adds every command with its options to `app`; the one that is chosen sets `action`.
void add_commands(CLI::App& app, Action& action);

/// Reads the command line. Help and version go to standard output, mistakes to standard error.
Command parse(int argc, char** argv);

}  // namespace paceline::cli
