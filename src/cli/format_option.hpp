#pragma once

#include "cli/measure.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

/// --format of a command that measures: the report, or rows as another tool prints them.
void add_format_option(CLI::App& command, Output& output);

}  // namespace paceline::cli
