#pragma once

#include <string>
#include <vector>

#include "util/result.hpp"

namespace paceline::cli {

/// What a program wrote to both its streams, and whether it ended with exit code 0.
struct Said {
  bool succeeded = false;
  std::string text;
};

/// Runs a program (looked for as a shell would) in a folder, to its end or until the user stops.
util::Result<Said> run_in(const std::string& folder, const std::vector<std::string>& arguments);

}  // namespace paceline::cli
