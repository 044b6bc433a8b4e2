#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "study/derived.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// What the options say about copies of the models that are measured in their place.
struct DerivationSettings {
  std::optional<std::string> ballast;  ///< "LAYERS/FFN"
  std::string quant = "as-is";         ///< of the target
  std::string draft_quant = "as-is";   ///< of every drafter's file

  bool any() const { return ballast || quant != "as-is" || draft_quant != "as-is"; }
};

void add_derivation_options(CLI::App& command, DerivationSettings& settings);

/// The file to measure in place of `model`: its copy in the cache folder, made by `engine` when it
/// is not there, or `model` where none was asked for.
util::Result<std::string> derived_target(const DerivationSettings& settings,
                                         const std::string& model, engine::Engine& engine);

/// The same for the drafters' files of all arms.
util::Result<void> derive_drafters(const DerivationSettings& settings, engine::Engine& engine,
                                   std::vector<trace::Arm>& arms);

}  // namespace paceline::cli
