#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace paceline::cli {

/// What is wrong with a value that was read for an option and can mean nothing for it: no name of a
/// file, a server or a study is empty, and no number is nan or infinite, which CLI11 lets through
/// all its ranges. Empty: every value can mean something.
std::string senseless_value(const CLI::App& parsed);

}  // namespace paceline::cli
