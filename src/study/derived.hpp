#pragma once

#include <filesystem>
#include <functional>

#include "engine/engine.hpp"
#include "protocol/job.hpp"

namespace paceline::study {

/// How a copy differs from the model it is made of. Ballast is dead weight that a laboratory target
/// is given, so that reading it takes time as with a model of ordinary size while its outputs stay
/// the same.
struct Derivation {
  int extra_layers = 0;
  int feed_forward = 0;  ///< 0: as in the model
  protocol::Quant quant = protocol::Quant::as_is;

  bool is_needed() const {
    return extra_layers != 0 || feed_forward != 0 || quant != protocol::Quant::as_is;
  }
};

/// The copy of `model` in `folder`, written by `engine` unless it is there already, undamaged; the
/// model itself where no copy is needed. Its name tells what it was made of, to the last byte.
util::Result<std::filesystem::path> derived(const std::filesystem::path& model,
                                            const Derivation& derivation,
                                            const std::filesystem::path& folder,
                                            engine::Engine& engine,
                                            const std::function<bool()>& stop_asked);

}  // namespace paceline::study
