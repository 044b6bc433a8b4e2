#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace paceline::cli {

/// The --help text of every command: each option with the unit of its value, its range and its
/// default.
class Help final : public CLI::Formatter {
 public:
  Help();
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace paceline::cli
