#include "cli/program.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about =
    "Paceline takes the tokens per second of local language models apart:\n"
    "tokens/s = passes/s (what the machine does) x tokens/pass (how predictable the text is).";

constexpr const char* examples =
    "Examples:\n"
    "  paceline demo                      the main job on the shipped models, in minutes\n"
    "  paceline run -m target.gguf -md dflash.gguf --spec-type draft-dflash\n"
    "                                     plain against DFlash on your own model\n"
    "  paceline run --help                every option, with more examples\n"
    "  paceline inspect model.gguf        what is inside a file, without loading it\n"
    "  paceline machine                   what this machine is and does now\n\n"
    "Exit codes: 0 done; 2 the command line makes no sense; 3 a model or engine could not be\n"
    "opened or failed in every launch; 4 too little was measured to say anything;\n"
    "130 stopped by Ctrl-C, after saying what was finished.";

/// llama-server's short names of more than one letter, which CLI11 does not know.
constexpr std::array<std::pair<std::string_view, std::string_view>, 1> two_letter_names{
    {{"-md", "--model-draft"}}};

std::vector<std::string> arguments_reversed(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    const std::string_view argument = argv[i];
    arguments.emplace_back(argument);
    for (const auto& [two_letters, long_name] : two_letter_names)
      if (argument == two_letters ||
          argument.substr(0, two_letters.size() + 1) == std::string(two_letters) + "=")
        arguments.back().replace(0, two_letters.size(), long_name);
  }
  return arguments;
}

}  // namespace

Command parse(int argc, char** argv) {
  CLI::App app(about, "paceline");
  app.footer(examples);
  app.set_version_flag("--version", std::string("paceline ") + PACELINE_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Command command;
  add_run(app, command.run);
  add_demo(app, command.run);
  add_inspect(app, command.run);
  add_machine(app, command.run);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stdout);
    return command;
  }
  try {
    app.parse(arguments_reversed(argc, argv));
  } catch (const CLI::ParseError& problem) {
    command.run = nullptr;
    command.exit_code = app.exit(problem) == 0 ? 0 : static_cast<int>(util::ErrorKind::usage);
  }
  return command;
}

}  // namespace paceline::cli
