#include "study/inspect.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace paceline::study {
namespace {

/// Says what it is told to, whatever the job.
class Speaker final : public engine::Engine {
 public:
  explicit Speaker(std::deque<trace::Event> events) : events_(std::move(events)) {}

  engine::Capabilities capabilities() const override { return {}; }
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup&,
                                                        const trace::Sampling&) override {
    return trace::EngineFacts{};
  }
  util::Result<engine::JobId> submit(const protocol::Job& job, std::chrono::seconds) override {
    asked = job;
    return 1;
  }
  std::optional<engine::TaggedEvent> next(engine::TimePoint) override {
    engine::TaggedEvent event{1, events_.front()};
    events_.pop_front();
    return event;
  }
  void cancel(engine::JobId) override {}
  void close() override {}

  protocol::Job asked;

 private:
  std::deque<trace::Event> events_;
};

bool never() { return false; }

trace::Finished refused(const std::string& reason) {
  trace::Finished finished;
  finished.outcome.kind = trace::OutcomeKind::refused;
  finished.outcome.reason = reason;
  return finished;
}

TEST(Inspect, brings_what_the_engine_read) {
  model::FileFacts facts;
  facts.name = "lab";
  Speaker engine({facts, trace::Finished{}});
  const auto found = inspect(engine, "m.gguf", never);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "lab");
  EXPECT_EQ(std::get<protocol::Inspect>(engine.asked).path, "m.gguf");
}

TEST(Inspect, gives_the_reason_of_a_refusal_as_a_failure_of_the_engine) {
  Speaker engine({refused("it is a web page")});
  const auto found = inspect(engine, "m.gguf", never);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, util::ErrorKind::engine);
  EXPECT_EQ(found.error().message, "it is a web page");
}

TEST(Inspect, takes_no_facts_for_none) {
  Speaker engine({trace::Finished{}});
  EXPECT_FALSE(inspect(engine, "m.gguf", never));
}

TEST(ProbeDevices, asks_for_bytes_and_threads_and_brings_the_speeds) {
  Speaker engine({trace::DeviceSpeeds{{{"CPU", 64, {1}, {2}, {3}, ""}}}, trace::Finished{}});
  const auto found = probe_devices(engine, 4096, 2, never);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->list.at(0).name, "CPU");
  EXPECT_EQ(std::get<protocol::ProbeDevices>(engine.asked).bytes, 4096u);
  EXPECT_EQ(std::get<protocol::ProbeDevices>(engine.asked).threads, 2);
}

TEST(ListDevices, brings_what_the_engine_sees) {
  Speaker engine({trace::Devices{{{"CUDA0", "GPU", "a card", 1, 2}}}, trace::Finished{}});
  const auto found = list_devices(engine, never);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->list.size(), 1u);
  EXPECT_EQ(found->list[0].name, "CUDA0");
}

}  // namespace
}  // namespace paceline::study
