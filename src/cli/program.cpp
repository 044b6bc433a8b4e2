#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/option_table.hpp"
#include "cli/senseless_value.hpp"
#include "cli/store_options.hpp"
#include "util/console.hpp"

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
    "  paceline compare --help            two settings, models, builds or servers, with a verdict\n"
    "  paceline sweep --help              which draft length, KV type or thread count is best\n"
    "  paceline tune --draft -m target.gguf --spec-type draft-mtp\n"
    "                                     the fastest draft length, without running every one\n"
    "  paceline predict log.jsonl         how much of your own texts a drafter would guess\n"
    "  paceline inspect model.gguf        what is inside a file, without loading it\n"
    "  paceline synth --help              models of random weights, and heavier copies of real "
    "ones\n"
    "  paceline machine                   what this machine is and does now\n"
    "  paceline roofline -m model.gguf    bytes of a pass, and how many a bandwidth permits\n"
    "  paceline score trace.jsonl         how many answers of a run are right\n"
    "  paceline history list              every study made here; history show last prints it "
    "again\n"
    "  paceline claim post.md             what figures of others say, and what they leave out\n\n"
    "Exit codes: 0 done; 1 a stated limit is broken; 2 the command line makes no sense; 3 a model "
    "or engine could not be\n"
    "opened or failed in every launch; 4 too little was measured to say anything; 5 a result could "
    "not be written;\n"
    "130 stopped by Ctrl-C, after saying what was finished.";

std::vector<std::string> arguments_reversed(const std::vector<std::string>& words) {
  std::vector<std::string> arguments;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    arguments.push_back(*word);
    const std::string name = arguments.back().substr(0, arguments.back().find('='));
    if (const auto long_name = long_name_of(name))
      arguments.back().replace(0, name.size(), *long_name);
  }
  return arguments;
}

}  // namespace

/// A word such as -ngl (the quoted options of a side are none), which CLI11 would read as -n with
/// the value gl; empty: there is none.
std::string unknown_short_name(const std::vector<std::string>& arguments) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (const std::string& word : arguments)
    if (word.find(' ') == std::string::npos && word.size() > 2 && word[0] == '-' &&
        is_letter(word[1]) && is_letter(word[2]))
      return word;
  return "";
}

void add_commands(CLI::App& app, Action& action) {
  app.description(about);
  app.footer(examples);
  app.set_version_flag("--version", std::string("paceline ") + PACELINE_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<Help>());
  add_run(app, action);
  add_sweep(app, action);
  add_fill(app, action);
  add_compare(app, action);
  add_tune(app, action);
  add_predict(app, action);
  add_demo(app, action);
  add_inspect(app, action);
  add_machine(app, action);
  add_synth(app, action);
  add_roofline(app, action);
  add_score(app, action);
  add_history(app, action);
  add_claim(app, action);
  add_completions(app, action);
  add_manual(app, action);
  add_mock(app, action);
}

Command parse(int argc, char** argv) {
  CLI::App app("", "paceline");
  Command command;
  add_commands(app, command.run);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stdout);
    return command;
  }
  const auto words = with_stored_command({argv + 1, argv + argc});
  if (!words) {
    util::say("paceline: " + words.error().message);
    command.exit_code = static_cast<int>(words.error().kind);
    return command;
  }
  auto arguments = imitates_a_server(argc, argv) ? mock_arguments_reversed(argc, argv)
                                                 : arguments_reversed(*words);
  if (const std::string unknown = unknown_short_name(arguments); !unknown.empty()) {
    util::say(
        fmt::format("paceline: there is no option {} here; --help lists those there are", unknown));
    command.exit_code = static_cast<int>(util::ErrorKind::usage);
    return command;
  }
  try {
    app.parse(std::move(arguments));
    for (const CLI::App* subcommand : app.get_subcommands())
      if (const std::string senseless = senseless_value(*subcommand); !senseless.empty())
        throw CLI::ValidationError(senseless);
  } catch (const CLI::ParseError& problem) {
    command.run = nullptr;
    command.exit_code = app.exit(problem) == 0 ? 0 : static_cast<int>(util::ErrorKind::usage);
  }
  return command;
}

}  // namespace paceline::cli
