#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "trace/trace.hpp"

namespace paceline::study {

/// Everything one job said. For a Generate the request; its prompt's names are the caller's.
struct Collected {
  trace::Request request;
  std::vector<trace::WidthTime> widths;
  std::optional<trace::Fill> fill;
  std::optional<trace::Rereading> rereading;
  std::optional<model::FileFacts> file;
  std::optional<trace::Devices> devices;
  std::optional<trace::Observation> observation;
  std::vector<trace::DraftMap> maps;
  std::optional<trace::DeviceSpeeds> device_speeds;
};

/// Puts what was said of a job where it belongs.
void take(trace::Event&& event, Collected& collected);

/// How a request ends that the user stopped.
trace::Outcome cancelled();

/// Runs one job to its end. When `stop_asked` turns true it is cancelled, and given up when it
/// does not end soon after; the outcome then says cancelled. `heard` is
/// told of signs of life as they come.
Collected collect(engine::Engine& engine, const protocol::Job& job, std::chrono::seconds patience,
                  const std::function<bool()>& stop_asked,
                  const std::function<void(const trace::Progress&)>& heard = nullptr);

}  // namespace paceline::study
