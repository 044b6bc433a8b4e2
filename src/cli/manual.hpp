#pragma once

#include <string>

namespace CLI {
class App;
}

namespace paceline::cli {

/// The manual page (roff, section 1) of a program: its commands with all their options.
std::string manual_page(const CLI::App& program, const std::string& version);

}  // namespace paceline::cli
