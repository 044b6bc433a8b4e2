#pragma once

#include <string>

namespace CLI {
class App;
}

namespace paceline::cli {

/// Completions of a program's commands, options and their values, as a script for the shell.
std::string bash_completions(const CLI::App& program);
std::string zsh_completions(const CLI::App& program);
std::string fish_completions(const CLI::App& program);

}  // namespace paceline::cli
