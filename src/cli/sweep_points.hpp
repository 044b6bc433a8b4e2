#pragma once

#include <string>
#include <vector>

#include "cli/arms.hpp"
#include "trace/sweep.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// What the options of a sweep say beside those of a run.
struct SweepSettings {
  std::vector<std::string> vary = {};  ///< NAME=VALUES, an option of an arm by any of its names
  std::vector<std::string> around =
      {};  ///< NAME=VALUE of the point that one option at a time leaves
  bool halving = false;
  bool full = false;
};

/// The most points of a sweep that are all launched in every round unless that is asked for.
inline constexpr std::size_t most_full_points = 24;

/// The arms of a sweep, plain ones first, and which point each of the others is. Rungs and rule are
/// not filled in.
struct SweptArms {
  std::vector<trace::Arm> arms;
  trace::Sweep sweep;
};

/// Every point is the arm that `base` asks for with the point's values in place of its own. Points
/// of the same engine settings share one plain arm. A point that cannot be is an error that names
/// it.
util::Result<SweptArms> make_points(const ArmSettings& base, const SweepSettings& settings);

/// The programs that are varied, when --server-bin is; empty otherwise.
util::Result<std::vector<std::string>> varied_servers(const SweepSettings& settings);

}  // namespace paceline::cli
