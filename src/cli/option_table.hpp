#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace paceline::cli {

/// One option as help, manual and completions tell it; all three read this and nothing else.
struct OptionRow {
  std::vector<std::string> names;  ///< with dashes, short ones first; a positional has its one name
  std::string unit;                ///< unit or kind of the value; empty for a flag
  std::string limits;              ///< range of the value; empty: any
  std::string default_text;        ///< empty: none, or the option is required
  std::string description;
  std::string group;
  bool required = false;
  bool positional = false;
  bool repeatable = false;
};

/// The commands that help, manual and completions tell of: all but those without a group.
std::vector<const CLI::App*> shown_commands(const CLI::App& program);

OptionRow row_of(const CLI::Option& option);

/// The options of one command in the order in which they were added.
std::vector<OptionRow> option_rows(const CLI::App& command);

/// "range; default" in brackets, as far as there is one; empty otherwise.
std::string value_note(const OptionRow& row);

/// The words that an option takes where it takes no others; empty for all others.
std::vector<std::string> choices(const OptionRow& row);

/// The long name for which a name of several letters behind one dash stands, as llama-server has
/// them and CLI11 does not; nothing for other words.
std::optional<std::string_view> long_name_of(std::string_view name);

}  // namespace paceline::cli
