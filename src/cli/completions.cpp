#include "cli/completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/option_table.hpp"

namespace paceline::cli {

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

/// Text inside single quotes, for any of the three shells' purposes but fish's.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

/// Text inside a zsh specification, where brackets and colons have a meaning.
std::string zsh_text(const std::string& text) {
  std::string escaped = replaced(text, "\\", "\\\\");
  for (const char* special : {"[", "]", ":"})
    escaped = replaced(escaped, special, std::string("\\") + special);
  return escaped;
}

bool names_file(const OptionRow& row) { return row.unit.find("FILE") != std::string::npos; }

// bash

/// The case that completes the value behind one of a row's names; no case for a flag.
std::string bash_value_case(const OptionRow& row) {
  const auto words = choices(row);
  if (row.positional || row.unit.empty()) return "";
  if (words.empty() && !names_file(row))
    return fmt::format("        {}) return ;;\n", fmt::join(row.names, "|"));
  const std::string reply = names_file(row)
                                ? "compgen -f -- \"$word\""
                                : fmt::format("compgen -W {} -- \"$word\"",
                                              quoted(fmt::format("{}", fmt::join(words, " "))));
  return fmt::format("        {}) mapfile -t COMPREPLY < <({}); return ;;\n",
                     fmt::join(row.names, "|"), reply);
}

std::string bash_command(const CLI::App& command) {
  std::string values;
  std::vector<std::string> names;
  std::vector<std::string> words;
  bool files = false;
  for (const auto& row : option_rows(command)) {
    values += bash_value_case(row);
    if (!row.positional) names.insert(names.end(), row.names.begin(), row.names.end());
    if (row.positional) {
      files = files || names_file(row);
      for (const auto& word : choices(row)) words.push_back(word);
    }
  }
  words.insert(words.end(), names.begin(), names.end());
  std::string text = fmt::format("    {})\n", command.get_name());
  if (!values.empty()) text += "      case \"$before\" in\n" + values + "      esac\n";
  text += fmt::format("      mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n",
                      quoted(fmt::format("{}", fmt::join(words, " "))));
  if (files)
    text +=
        "      [[ $word == -* ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY "
        "< <(compgen -f -- \"$word\")\n";
  return text + "      ;;\n";
}

// zsh

std::string zsh_action(const OptionRow& row) {
  if (row.unit.empty()) return "";
  const auto words = choices(row);
  std::string action = ":" + zsh_text(words.empty() ? row.unit : "value") + ":";
  if (names_file(row)) action += "_files";
  if (!words.empty()) action += fmt::format("({})", fmt::join(words, " "));
  return action;
}

std::string zsh_row(const OptionRow& row) {
  if (row.positional) return "      " + quoted("1" + zsh_action(row)) + " \\\n";
  std::string text;
  for (const auto& name : row.names)
    text += fmt::format("      {} \\\n",
                        quoted(fmt::format("{}{}[{}]{}", row.repeatable ? "*" : "", name,
                                           zsh_text(row.description), zsh_action(row))));
  return text;
}

// fish

std::string fish_row(const std::string& condition, const OptionRow& row) {
  std::string text = fmt::format("complete -c paceline -n {}", fish_quoted(condition));
  const auto words = choices(row);
  if (!row.positional) {
    for (const auto& name : row.names) {
      const bool is_long = name.rfind("--", 0) == 0;
      const char* kind = is_long ? "-l" : name.size() == 2 ? "-s" : "-o";
      text += fmt::format(" {} {}", kind, name.substr(is_long ? 2 : 1));
    }
    if (!row.unit.empty()) text += names_file(row) ? " -r -F" : " -x";
    text += " -d " + fish_quoted(row.description);
  } else if (names_file(row)) {
    text += " -F";
  }
  if (!words.empty()) text += " -a " + fish_quoted(fmt::format("{}", fmt::join(words, " ")));
  return text + "\n";
}

}  // namespace

std::string bash_completions(const CLI::App& program) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : shown_commands(program)) {
    names += command->get_name() + " ";
    cases += bash_command(*command);
  }
  return fmt::format(
      "# bash completions of paceline\n"
      "_paceline() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if (( COMP_CWORD == 1 )); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
      "}}\n"
      "complete -o filenames -F _paceline paceline\n",
      quoted(names + "--help --version"), cases);
}

std::string zsh_completions(const CLI::App& program) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : shown_commands(program)) {
    commands += fmt::format(
        "      {}\n", quoted(command->get_name() + ":" + zsh_text(command->get_description())));
    cases += fmt::format("    {})\n      _arguments \\\n", command->get_name());
    for (const auto& row : option_rows(*command)) cases += zsh_row(row);
    cases += "      && return\n      ;;\n";
  }
  return fmt::format(
      "#compdef paceline\n"
      "_paceline() {{\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a commands=(\n{}    )\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n"
      "}}\n"
      "_paceline \"$@\"\n",
      commands, cases);
}

std::string fish_completions(const CLI::App& program) {
  std::string text = "# fish completions of paceline\ncomplete -c paceline -f\n";
  for (const CLI::App* command : shown_commands(program)) {
    text += fmt::format("complete -c paceline -n __fish_use_subcommand -a {} -d {}\n",
                        command->get_name(), fish_quoted(command->get_description()));
    const std::string inside = "__fish_seen_subcommand_from " + command->get_name();
    for (const auto& row : option_rows(*command)) text += fish_row(inside, row);
  }
  return text;
}

}  // namespace paceline::cli
