#pragma once

#include <string>
#include <vector>

#include "cli/run_settings.hpp"
#include "engine/engine.hpp"
#include "study/plan.hpp"
#include "util/result.hpp"

namespace CLI {
class App;
}

namespace paceline::cli {

inline constexpr const char* arm_a = "A";
inline constexpr const char* arm_b = "B";
inline constexpr const char* arm_again = "A again";

/// An option of `run` as it was given to `compare`.
struct GivenOption {
  std::string name;                 ///< "--model"
  std::vector<std::string> values;  ///< in their order; "" each for a flag
  bool is_flag = false;
  bool is_list = false;    ///< takes several values by itself
  bool of_a_side = false;  ///< the two sides may differ in it
};

/// Lets options that sides may differ in be given twice, for A and then for B.
void let_sides_differ(CLI::App& command);

/// What was given of the options of `run`.
std::vector<GivenOption> given_options(const CLI::App& command);

/// What was said of both sides, and of each alone.
struct SideWords {
  std::vector<GivenOption> shared;
  std::string a;
  std::string b;
};

/// A study of A, B and A again, and the engines for it.
struct Sides {
  study::RunOptions run;
  engine::EngineFactory make_engine;
  Output output;
  std::string a_says;
  std::string b_says;
};

/// Plans both sides as `run` would plan each: one arm each, on the same prompts.
util::Result<Sides> plan_sides(const SideWords& words);

}  // namespace paceline::cli
