#include "cli/manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "cli/option_table.hpp"

namespace paceline::cli {

namespace {

/// Text that roff prints as it is: hyphens stay what users type, and no line is a request.
std::string plain(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    const bool starts_line = escaped.empty() || escaped.back() == '\n';
    if (starts_line && (letter == '.' || letter == '\'')) escaped += "\\&";
    if (letter == '\\')
      escaped += "\\e";
    else if (letter == '-')
      escaped += "\\-";
    else
      escaped += letter;
  }
  return escaped;
}

std::string option_entry(const OptionRow& row) {
  std::string names;
  for (const auto& name : row.names) names += (names.empty() ? "" : ", ") + plain(name);
  std::string text = fmt::format(".TP\n\\fB{}\\fR", names);
  if (!row.unit.empty() && !row.positional) text += fmt::format(" \\fI{}\\fR", plain(row.unit));
  text += "\n" + plain(row.description) + ".\n";
  if (row.required) text += "Required.\n";
  if (row.repeatable) text += "May be given more than once.\n";
  const std::string note = value_note(row);
  if (!note.empty()) text += plain(note) + "\n";
  return text;
}

/// Lines as they are, without filling: examples and tables.
std::string verbatim(const std::string& text) {
  return fmt::format(".PP\n.nf\n{}\n.fi\n", plain(text));
}

std::string command_section(const CLI::App& command) {
  std::string text = fmt::format(".SS \"paceline {}\"\n{}.\n", plain(command.get_name()),
                                 plain(command.get_description()));
  std::string group;
  for (const auto& row : option_rows(command)) {
    if (row.group != group && !row.positional && row.group != "Options")
      text += fmt::format(".PP\n{}:\n", plain(row.group));
    group = row.group;
    text += option_entry(row);
  }
  if (!command.get_footer().empty()) text += verbatim(command.get_footer());
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& program, const std::string& version) {
  std::string text = fmt::format(
      ".TH PACELINE 1 \"\" \"paceline {0}\" \"User commands\"\n"
      ".SH NAME\n{1} \\- takes the tokens per second of local language models apart\n"
      ".SH SYNOPSIS\n\\fB{1}\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n{2}\n.SH COMMANDS\n",
      plain(version), program.get_name(), plain(program.get_description()));
  for (const CLI::App* command : shown_commands(program)) text += command_section(*command);
  text += ".SH EXAMPLES AND EXIT CODES\n" + verbatim(program.get_footer());
  return text;
}

}  // namespace paceline::cli
