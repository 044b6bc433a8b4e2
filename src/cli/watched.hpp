#pragma once

#include <functional>

#include "study/run.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// A study, as far as it goes before it is told to stop.
using WatchedStudy =
    std::function<util::Result<void>(const study::Watcher&, const study::StopAsked&)>;

/// Runs it with its progress on standard error and until the user interrupts it.
util::Result<void> watched(const WatchedStudy& study);

}  // namespace paceline::cli
