#include "cli/senseless_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace paceline::cli {

namespace {

/// Whether an option's values are names of what lies outside of the command line.
bool takes_names(const CLI::Option& option) {
  constexpr std::array<std::string_view, 5> outside = {"FILE", "FOLDER", "URL", "RUN", "STUDY"};
  const std::string type = option.get_type_name();
  return std::any_of(outside.begin(), outside.end(),
                     [&](std::string_view name) { return type.find(name) != std::string::npos; });
}

bool is_no_finite_number(std::string text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.erase(0, 1);
  for (char& letter : text)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text == "nan" || text == "inf" || text == "infinity";
}

}  // namespace

std::string senseless_value(const CLI::App& parsed) {
  for (const CLI::Option* option : parsed.get_options())
    for (const std::string& value : option->results()) {
      if (takes_names(*option) && value.empty())
        return fmt::format("{}: the value is empty", option->get_name());
      if (!takes_names(*option) && is_no_finite_number(value))
        return fmt::format("{}: {} is no number that anything can be", option->get_name(), value);
    }
  return "";
}

}  // namespace paceline::cli
