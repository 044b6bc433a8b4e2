#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/completions.hpp"
#include "cli/manual.hpp"
#include "util/console.hpp"

namespace paceline::cli {

namespace {

std::string script_for(const std::string& shell, const CLI::App& program) {
  if (shell == "bash") return bash_completions(program);
  if (shell == "zsh") return zsh_completions(program);
  return fish_completions(program);
}

/// The text is made while the command line is read: the program's table does not outlive that.
Action print(std::string text) {
  return [text = std::move(text)]() -> util::Result<int> {
    if (util::write_all(stdout, text)) return 0;
    return util::fail(util::ErrorKind::internal, "standard output could not be written");
  };
}

}  // namespace

void add_completions(CLI::App& app, Action& action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completions", "Prints completions for a shell");
  command->footer("Example:\n  source <(paceline completions bash)");
  command->add_option("shell", *shell, "Shell that shall complete paceline's commands and options")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  command->callback([shell, &app, &action] { action = print(script_for(*shell, app)); });
}

void add_manual(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("man", "Prints the manual page");
  command->footer("Example:\n  paceline man | man -l -");
  command->callback([&app, &action] { action = print(manual_page(app, PACELINE_VERSION)); });
}

}  // namespace paceline::cli
