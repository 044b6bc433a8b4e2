#include "document/memory.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

trace::MemoryReading reading(trace::MemoryMoment when, std::uint64_t pss) {
  return {when, pss, "", 5'000, {{"GPU-1", 700}}};
}

TEST(MemoryOfArms, is_that_of_the_first_launch_that_opened) {
  auto trace = support::sample_trace();
  trace.launches[0].facts.reset();
  trace.launches[0].memory = {reading(trace::MemoryMoment::after_load, 1)};
  const std::size_t second = trace.header.arms.size();  // of the same arm, a round later
  trace.launches[second].memory = {reading(trace::MemoryMoment::after_load, 10),
                                   reading(trace::MemoryMoment::after_run, 20)};
  const Memory memory = to_memory(trace);
  ASSERT_EQ(memory.by_arm.size(), 4u);
  const ArmMemory& plain = memory.by_arm[0];
  EXPECT_EQ(plain.arm, "plain");
  EXPECT_EQ(plain.model_bytes.value, 360'000'000u);
  ASSERT_EQ(plain.readings.size(), 2u);
  EXPECT_EQ(plain.readings[0].when, "after_load");
  EXPECT_EQ(plain.readings[1].when, "after_run");
  EXPECT_EQ(plain.readings[1].pss_bytes.value, 20u);
  EXPECT_EQ(plain.readings[1].available_bytes.value, 5'000u);
  EXPECT_EQ(plain.readings[1].devices.at(0).bytes, 700u);
  EXPECT_TRUE(memory.by_arm[1].readings.empty());
}

TEST(MemoryOfArms, that_a_server_allocated_is_unknown_and_not_zero) {
  auto trace = support::sample_trace();
  trace.launches[0].facts->memory = {};
  trace.launches[0].facts->server = trace::ServerFacts{};
  trace.launches[0].memory = {{trace::MemoryMoment::after_load, std::nullopt, "not ours", {}, {}}};
  const ArmMemory plain = to_memory(trace).by_arm.at(0);
  for (const auto* bytes : {&plain.model_bytes, &plain.context_bytes, &plain.compute_bytes,
                            &plain.projector_bytes, &plain.resident_bytes}) {
    EXPECT_FALSE(bytes->value);
    EXPECT_FALSE(bytes->reason.empty());
  }
  EXPECT_FALSE(plain.readings.at(0).pss_bytes.value);
  EXPECT_EQ(plain.readings.at(0).pss_bytes.reason, "not ours");
  EXPECT_FALSE(plain.readings.at(0).available_bytes.value);
  EXPECT_FALSE(plain.readings.at(0).available_bytes.reason.empty());
}

TEST(MemoryOfArms, says_why_memory_after_a_real_fill_is_unknown) {
  const Memory memory = to_memory(support::sample_trace());
  EXPECT_FALSE(memory.after_fill.value);
  EXPECT_FALSE(memory.after_fill.reason.empty());
}

TEST(MemoryOfArms, tells_devices_apart_and_what_is_unaccounted_for) {
  auto trace = support::sample_trace();
  auto& devices = trace.launches[0].facts->memory.devices;
  devices = {{"CPU", 100, 20, 3}, {"CUDA0", 7'000, 900, 80, 24'000, 23'500, 15'000}};
  const ArmMemory plain = to_memory(trace).by_arm.at(0);
  ASSERT_EQ(plain.devices.size(), 2u);
  EXPECT_EQ(plain.devices[0].device, "CPU");
  EXPECT_EQ(plain.devices[0].context_bytes, 20u);
  EXPECT_FALSE(plain.devices[0].unaccounted_bytes.value) << "other programs have it too";
  EXPECT_NE(plain.devices[0].unaccounted_bytes.reason, "");
  EXPECT_EQ(plain.devices[1].free_before_bytes.value, 23'500u);
  EXPECT_EQ(plain.devices[1].unaccounted_bytes.value, 24'000 - 15'000 - 7'000 - 900 - 80);
  devices[1].free_after_bytes = 17'000;
  EXPECT_EQ(to_memory(trace).by_arm.at(0).devices[1].unaccounted_bytes.value, -980)
      << "a contradiction is shown and not clamped";
  EXPECT_TRUE(to_memory(trace).by_arm.at(1).devices.empty());
}

TEST(MemoryOfArms, has_the_peak_of_each_moment) {
  auto trace = support::sample_trace();
  auto last = reading(trace::MemoryMoment::after_fill, 20);
  last.peak_bytes = 55;
  auto first = reading(trace::MemoryMoment::after_load, 10);
  first.peak_reason = "it cannot be read";
  trace.launches[0].memory = {first, last};
  const auto readings = to_memory(trace).by_arm.at(0).readings;
  EXPECT_EQ(readings.at(0).peak_bytes.reason, "it cannot be read");
  EXPECT_EQ(readings.at(1).peak_bytes.value, 55u);
  EXPECT_EQ(readings.at(1).when, "after_fill");
}

}  // namespace
}  // namespace paceline::document
