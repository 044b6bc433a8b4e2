#include <gtest/gtest.h>

#include <set>

#include "engine/simulated/simulated.hpp"
#include "study/run.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_file.hpp"

namespace paceline {
namespace {

trace::Trace run_until(int enough) {
  study::RunOptions options;
  for (const char* name : {"A", "B"}) {
    options.arms.emplace_back();
    options.arms.back().name = name;
  }
  options.prompts.measured.emplace_back();
  options.prompts.measured.back().id = "p";
  options.rounds = 4;
  options.is_enough = [enough](const trace::Trace& trace) {
    EXPECT_EQ(trace.launches.size() % 2, 0u) << "asked in the middle of a round";
    return trace.launches.back().round + 1 >= enough;
  };
  trace::Trace trace;
  trace.header.arms = options.arms;
  const support::TemporaryFolder folder;
  const auto journal = trace::TraceFile::create(folder.path() / "t.jsonl");
  EXPECT_TRUE(journal);
  const auto done = study::run(
      options, engine::simulated::factory(std::make_shared<engine::simulated::World>()), **journal,
      [](double, double, const std::string&) {}, [] { return false; }, trace);
  EXPECT_TRUE(done);
  return trace;
}

TEST(early_end, comes_after_the_round_that_was_enough_and_is_no_interruption) {
  const auto trace = run_until(2);
  ASSERT_EQ(trace.launches.size(), 4u);
  EXPECT_EQ(trace.launches.back().round, 1);
  EXPECT_FALSE(trace.interrupted);
}

TEST(early_end, does_not_come_where_nothing_is_enough) {
  EXPECT_EQ(run_until(9).launches.size(), 8u);
}

}  // namespace
}  // namespace paceline
