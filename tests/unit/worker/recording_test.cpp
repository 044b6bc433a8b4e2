#include "worker/recording.hpp"

#include <gtest/gtest.h>

#include "support/memory_port.hpp"

namespace paceline::worker {
namespace {

trace::Pass numbered_pass(int index) {
  trace::Pass pass;
  pass.index = index;
  return pass;
}

trace::Emission emission_of(int pass) {
  trace::Emission emission;
  emission.pass = pass;
  return emission;
}

TEST(Recording, SendsPrefillThenEveryPassBeforeItsEmission) {
  Recording recording(8, 8, 4, false);
  recording.prefill.prompt_tokens = 5;
  const std::vector<std::int32_t> first{10};
  const std::vector<std::int32_t> second{20, 21};
  const std::vector<std::int32_t> draft{20, 99};
  recording.emit(emission_of(-1), first);
  recording.add(numbered_pass(0), draft);
  recording.add(numbered_pass(1), {});
  recording.emit(emission_of(1), second);
  support::MemoryPort port;
  recording.flush(port);
  ASSERT_EQ(port.events.size(), 5u);
  EXPECT_EQ(std::get<trace::Prefill>(port.events[0]).prompt_tokens, 5);
  EXPECT_EQ(std::get<trace::Emission>(port.events[1]).tokens, first);
  EXPECT_EQ(std::get<trace::Pass>(port.events[2]).draft, draft);
  EXPECT_TRUE(std::get<trace::Pass>(port.events[3]).draft.empty());
  EXPECT_EQ(std::get<trace::Emission>(port.events[4]).tokens, second);
}

TEST(Recording, SendsAPassThatLedToNoEmissionToo) {
  Recording recording(1, 1, 0, false);
  recording.add(numbered_pass(0), {});
  support::MemoryPort port;
  recording.flush(port);
  EXPECT_EQ(port.all<trace::Pass>().size(), 1u);
}

TEST(Recording, KeepsDraftIdsOnlyWhenThereIsRoomForThem) {
  Recording recording(1, 1, 0, false);
  const std::vector<std::int32_t> draft{1, 2, 3};
  recording.add(numbered_pass(0), draft);
  support::MemoryPort port;
  recording.flush(port);
  EXPECT_TRUE(port.all<trace::Pass>().front().draft.empty());
}

TEST(Recording, GivesEachTokenItsGap) {
  Recording recording(3, 1, 0, true);
  const std::vector<std::int32_t> one{7};
  const std::vector<std::int32_t> two{8, 9};
  recording.emit(emission_of(-1), one);
  recording.add_gap(0.5);
  recording.emit(emission_of(0), two);
  recording.add_gap(1.5);
  recording.add_gap(2.5);
  support::MemoryPort port;
  recording.flush(port);
  const auto emissions = port.all<trace::Emission>();
  EXPECT_EQ(emissions[0].top2_gaps, (std::vector<double>{0.5}));
  EXPECT_EQ(emissions[1].top2_gaps, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(recording.tokens(), 3);
}

}  // namespace
}  // namespace paceline::worker
