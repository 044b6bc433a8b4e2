#pragma once

#include <cstdint>
#include <functional>

#include "engine/engine.hpp"

namespace paceline::study {

/// Has the engine write the file of a job (protocol::Synth, protocol::Invent); `heard` is told how
/// many bytes of it are written, about once a second.
util::Result<void> write_model(engine::Engine& engine, const protocol::Job& job,
                               const std::function<void(std::uint64_t)>& heard,
                               const std::function<bool()>& stop_asked);

}  // namespace paceline::study
