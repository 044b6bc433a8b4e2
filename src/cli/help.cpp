#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_table.hpp"

namespace paceline::cli {

namespace {

constexpr std::size_t names_width = 34;

}  // namespace

Help::Help() { column_width(names_width); }

std::string Help::make_option_name(const CLI::Option* option, bool) const {
  return fmt::format("{}", fmt::join(row_of(*option).names, ", "));
}

std::string Help::make_option_opts(const CLI::Option* option) const {
  const OptionRow row = row_of(*option);
  if (row.unit.empty()) return "";
  return fmt::format(" {}{}{}", row.unit, row.repeatable ? " ..." : "",
                     row.required && !row.positional ? " (required)" : "");
}

std::string Help::make_option_desc(const CLI::Option* option) const {
  const OptionRow row = row_of(*option);
  const std::string note = value_note(row);
  return note.empty() ? row.description : row.description + " " + note;
}

}  // namespace paceline::cli
