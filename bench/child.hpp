#pragma once

#include <string>
#include <vector>

#include "util/result.hpp"

namespace paceline::bench {

/// A program that was run to its end.
struct Ran {
  double seconds = 0;  ///< wall time from before its start until it was gone
  std::string output;  ///< its standard output
};

/// Runs `arguments[0]` (a path), its standard error to nowhere; an error when it cannot be started
/// or does not end with exit code 0.
util::Result<Ran> run_to_end(const std::vector<std::string>& arguments);

}  // namespace paceline::bench
