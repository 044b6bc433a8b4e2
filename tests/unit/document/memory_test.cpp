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

}  // namespace
}  // namespace paceline::document
