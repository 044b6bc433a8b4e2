#include "study/inspect.hpp"

#include "study/collect.hpp"

namespace paceline::study {

namespace {

constexpr auto patience = std::chrono::minutes(2);

/// What a finished job brought, or its own reason for bringing nothing.
template <class Brought>
util::Result<Brought> brought(const Collected& collected, const std::optional<Brought>& value) {
  if (collected.request.outcome.kind != trace::OutcomeKind::done)
    return util::fail(util::ErrorKind::engine, collected.request.outcome.reason);
  if (!value) return util::fail(util::ErrorKind::internal, "the engine ended without an answer");
  return *value;
}

}  // namespace

util::Result<model::FileFacts> inspect(engine::Engine& engine, const std::string& path,
                                       const std::function<bool()>& stop_asked) {
  const Collected collected = collect(engine, protocol::Inspect{path}, patience, stop_asked);
  return brought(collected, collected.file);
}

util::Result<void> check(engine::Engine& engine, const trace::Setup& setup,
                         const std::function<bool()>& stop_asked) {
  const auto outcome =
      collect(engine, protocol::Check{setup}, patience, stop_asked).request.outcome;
  if (outcome.kind == trace::OutcomeKind::done) return {};
  return util::fail(util::ErrorKind::engine, outcome.reason);
}

util::Result<trace::Devices> list_devices(engine::Engine& engine,
                                          const std::function<bool()>& stop_asked) {
  const Collected collected = collect(engine, protocol::ListDevices{}, patience, stop_asked);
  return brought(collected, collected.devices);
}

util::Result<trace::DeviceSpeeds> probe_devices(engine::Engine& engine, std::uint64_t bytes,
                                                int threads,
                                                const std::function<bool()>& stop_asked) {
  const Collected collected =
      collect(engine, protocol::ProbeDevices{bytes, threads}, patience, stop_asked);
  return brought(collected, collected.device_speeds);
}

}  // namespace paceline::study
