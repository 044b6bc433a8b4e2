#pragma once

#include <deque>
#include <memory>

#include "engine/engine.hpp"
#include "engine/simulated/truth.hpp"

namespace paceline::engine::simulated {

/// An engine whose truth is known, on a clock of its own: nothing waits, next() returns at once.
class SimulatedEngine : public Engine {
 public:
  explicit SimulatedEngine(std::shared_ptr<World> world);

  Capabilities capabilities() const override;
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup& setup,
                                                        const trace::Sampling& sampling) override;
  util::Result<JobId> submit(const protocol::Job& job, std::chrono::seconds patience) override;
  std::optional<TaggedEvent> next(TimePoint until) override;
  void cancel(JobId job) override;
  void close() override;

 private:
  const Fault* fault_of_job() const;
  void apply(const Fault& fault, std::chrono::seconds patience);

  std::shared_ptr<World> world_;
  trace::Setup setup_;
  trace::Nanoseconds now_ = 0;
  std::deque<trace::Event> events_;
  JobId job_ = 0;
  int launch_ = -1;
  int jobs_ = 0;
  int filled_ = 0;        ///< tokens of text in the context
  int silent_waits_ = 0;  ///< calls of next() that time out before the rest arrives
  bool is_open_ = false;
  bool dies_ = false;  ///< with the last event of the running job
};

/// Engines that share one world: each one made is one launch.
EngineFactory factory(std::shared_ptr<World> world);

}  // namespace paceline::engine::simulated
