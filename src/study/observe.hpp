#pragma once

#include <functional>

#include "engine/engine.hpp"
#include "trace/observation.hpp"

namespace paceline::study {

/// Has the engine count what real passes read, or says why it does not.
util::Result<trace::Observation> observe(engine::Engine& engine, const protocol::Observe& job,
                                         const std::function<bool()>& stop_asked);

}  // namespace paceline::study
