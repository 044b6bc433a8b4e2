#pragma once

#include <functional>
#include <string>

#include "engine/engine.hpp"
#include "model/file_facts.hpp"

namespace paceline::study {

/// What a GGUF file is, read by the engine: a file that ends its reader ends nothing else. The
/// error says why the file was refused.
util::Result<model::FileFacts> inspect(engine::Engine& engine, const std::string& path,
                                       const std::function<bool()>& stop_asked);

/// Refuses a setup that cannot work, before anything is loaded; the error says why.
util::Result<void> check(engine::Engine& engine, const trace::Setup& setup,
                         const std::function<bool()>& stop_asked);

/// What the engine can compute on, or why it does not say.
util::Result<trace::Devices> list_devices(engine::Engine& engine,
                                          const std::function<bool()>& stop_asked);

/// How fast memory moves on each device, by threads of the CPU; or why the engine does not say.
util::Result<trace::DeviceSpeeds> probe_devices(engine::Engine& engine, std::uint64_t bytes,
                                                int threads,
                                                const std::function<bool()>& stop_asked);

}  // namespace paceline::study
