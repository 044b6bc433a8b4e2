#pragma once

#include <string>

#include "document/document.hpp"

namespace paceline::report {

/// How the terminal shows text; the caller knows whether there is one.
struct Style {
  bool colour = false;
  int width = 100;  ///< columns; tables drop intervals until they fit, never rows
};

/// The whole report as text for a terminal or a file. No byte of a model, a path or a log reaches
/// a terminal as a command.
std::string terminal(const document::Document& document, const Style& style);

}  // namespace paceline::report
