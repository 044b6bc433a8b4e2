#pragma once

#include <string>
#include <vector>

#include "cli/comparing.hpp"
#include "util/result.hpp"

namespace paceline::cli {

struct BisectSettings {
  std::vector<std::string> ends;  ///< a good commit and a bad one; empty: not asked for
  std::string build;              ///< shell command, run in a commit's checkout
  std::string repository = ".";
};

/// Drives `git bisect` by compare's verdict: every commit's build against the good one's, each a
/// checkout of its own beside the repository. A commit that does not build, or of which nothing can
/// be told even with more launches, is skipped. The exit code.
util::Result<int> bisect(const BisectSettings& settings, const SideWords& words,
                         const CompareRule& rule);

}  // namespace paceline::cli
