#include "cli/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

namespace paceline::cli {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> short_names{
    {{"-md", "--model-draft"},
     {"-ngl", "--n-gpu-layers"},
     {"-ctk", "--cache-type-k"},
     {"-ctv", "--cache-type-v"},
     {"-ctkd", "--spec-draft-type-k"},
     {"-ctvd", "--spec-draft-type-v"}}};

/// CLI11 writes a value's checks behind its type: "TOKENS:INT in [1 - 64]", "SHELL:{bash,zsh}".
void split_type_name(const std::string& type_name, OptionRow& row) {
  const std::size_t colon = type_name.find(':');
  row.unit = type_name.substr(0, colon);
  if (colon == std::string::npos) return;
  row.limits = type_name.substr(colon + 1);
  const std::size_t bracket = row.limits.find('[');
  const std::size_t end = row.limits.find(']', bracket);
  if (bracket != std::string::npos && end != std::string::npos)
    row.limits = row.limits.substr(bracket + 1, end - bracket - 1);
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) {
    for (const auto& [short_name, long_name] : short_names)
      if (long_name == "--" + name) names.emplace_back(short_name);
    names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::vector<const CLI::App*> shown_commands(const CLI::App& program) {
  return program.get_subcommands(
      [](const CLI::App* command) { return !command->get_group().empty(); });
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  row.names = names_of(option);
  if (option.get_type_size() != 0) split_type_name(option.get_type_name(), row);
  row.default_text = option.get_default_str();
  row.description = option.get_description();
  row.group = option.get_group();
  row.required = option.get_required();
  row.positional = option.get_positional();
  row.repeatable = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return row;
}

std::vector<OptionRow> option_rows(const CLI::App& command) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty()) rows.push_back(row_of(*option));
  return rows;
}

std::string value_note(const OptionRow& row) {
  const std::string shown_default =
      row.default_text.empty() ? std::string() : "default: " + row.default_text;
  const auto words = choices(row);
  const std::string limits = words.empty() ? row.limits : fmt::format("{}", fmt::join(words, ", "));
  if (limits.empty() && shown_default.empty()) return "";
  const char* between = limits.empty() || shown_default.empty() ? "" : "; ";
  return fmt::format("[{}{}{}]", limits, between, shown_default);
}

std::vector<std::string> choices(const OptionRow& row) {
  if (row.limits.size() < 2 || row.limits.front() != '{') return {};
  return CLI::detail::split(row.limits.substr(1, row.limits.size() - 2), ',');
}

std::optional<std::string_view> long_name_of(std::string_view name) {
  for (const auto& [short_name, long_name] : short_names)
    if (short_name == name) return long_name;
  return std::nullopt;
}

}  // namespace paceline::cli
