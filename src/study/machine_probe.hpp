#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/engine.hpp"
#include "machine/probe/survey.hpp"

namespace paceline::study {

struct ProbeOptions {
  std::filesystem::path kept_at;  ///< file of the survey that is kept
  bool fresh = false;             ///< measure even where a kept one is of this machine and boot
};

/// Told of what comes: lines for a person, and of the work done.
struct ProbeWatch {
  std::function<void(const std::string& line)> say;
  std::function<void(double done, double total, const std::string& next)> progress;
  std::function<bool()> stop_asked;
};

/// The survey kept of this machine since its last start, else a new one, which is then kept. The
/// error says that it was stopped.
util::Result<machine::Survey> probe_machine(const ProbeOptions& options, engine::Engine& engine,
                                            const ProbeWatch& watch);

}  // namespace paceline::study
