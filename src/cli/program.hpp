#pragma once

#include <functional>

#include "util/result.hpp"

namespace paceline::cli {

/// Runs a subcommand; its exit code, or the error to print.
using Action = std::function<util::Result<int>()>;

/// What the command line asks for. Without an action everything is said already (help, version,
/// a mistake in the options) and `exit_code` is what to end with.
struct Command {
  Action run;
  int exit_code = 0;
};

/// Reads the command line. Help and version go to standard output, mistakes to standard error.
Command parse(int argc, char** argv);

}  // namespace paceline::cli
