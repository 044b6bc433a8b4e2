#pragma once

#include <string>

namespace paceline::document {

/// The program that wrote a document.
struct Tool {
  std::string name;
  std::string version;
};

}  // namespace paceline::document
