#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// What the options say about arms. A plain arm is added unless it is left out by name.
struct ArmSettings {
  std::string model;
  std::optional<std::string> draft_model;
  std::optional<std::string> spec_type;
  std::optional<int> draft_n_max;
  std::vector<std::string> extra;  ///< TYPE[:N[:FILE]]
  bool no_plain = false;
  int n_ctx = 4096;
  std::optional<int> threads;  ///< absent: all cores but one
  trace::Sampling sampling;    ///< temp 0.7 is put in when it is absent
};

/// The arms these settings ask for, plain first; names tell type and draft length.
util::Result<std::vector<trace::Arm>> make_arms(const ArmSettings& settings);

/// The widest pass worth timing: two tokens past the longest draft's, so that the neighbours of
/// every draft length show; from 8 to 16, which every engine of ours can time.
int widest_pass(const std::vector<trace::Arm>& arms);

/// All cores that this process may use, but one, and at least one.
int default_threads();

}  // namespace paceline::cli
