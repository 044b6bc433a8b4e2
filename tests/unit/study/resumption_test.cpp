#include <algorithm>

#include "unit/study/study_run.hpp"

// Studies that were cut off and go on.

namespace paceline::study {
namespace {

/// Arm, round and requests of every launch, in order.
std::vector<std::string> structure(const trace::Trace& trace) {
  std::vector<std::string> launches;
  for (const auto& launch : trace.launches) {
    std::string text =
        std::to_string(launch.index) + " " + launch.arm + " " + std::to_string(launch.round) + ":";
    for (const auto& request : launch.requests)
      text += " " + request.prompt_id + "/" + std::to_string(request.seed) +
              (request.synced ? " synced" : "");
    for (const auto& reread : launch.rereadings)
      text += " reread " + std::to_string(reread.margins.size());
    launches.push_back(std::move(text));
  }
  return launches;
}

struct Study {
  const char* name;
  void (*change)(RunOptions& options, engine::simulated::Truth& truth);
};

class StudyRunCutOff : public StudyRun, public ::testing::WithParamInterface<Study> {};

TEST_P(StudyRunCutOff, is_what_an_undisturbed_one_is_wherever_it_goes_on) {
  GetParam().change(options, world->truth);
  const auto whole = run();
  ASSERT_TRUE(whole) << whole.error().message;
  const auto wanted = structure(*whole);
  for (std::size_t kept = 0; kept <= whole->launches.size(); ++kept) {
    trace::Trace cut_off = *whole;
    cut_off.launches.resize(kept);
    cut_off.resumptions.push_back({"2026-03-04T05:06:07Z", static_cast<int>(kept), {}});
    journal.notes.clear();
    const auto again = run(cut_off);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(structure(*again), wanted) << kept << " kept";
    EXPECT_EQ(journal.notes.front(), "resumed");
    EXPECT_EQ(std::count(journal.notes.begin(), journal.notes.end(), "launch end"),
              static_cast<long>(wanted.size() - kept))
        << "what had ended is not run again";
    for (const auto& launch : again->launches)
      for (const auto& request : launch.requests)
        EXPECT_EQ(request.outcome.kind, trace::OutcomeKind::done) << request.outcome.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, StudyRunCutOff,
    ::testing::Values(Study{"Arms", [](RunOptions&, engine::simulated::Truth&) {}},
                      Study{"Phases", [](RunOptions& options,
                                         engine::simulated::Truth&) { options.phases = true; }},
                      Study{"ForcedText",
                            [](RunOptions& options, engine::simulated::Truth&) {
                              options.force_text = true;
                            }},
                      Study{"TextsReadAgain",
                            [](RunOptions& options, engine::simulated::Truth& truth) {
                              for (auto& arm : options.arms) arm.sampling.temp = 0;
                              stray_on_b(truth);
                            }}),
    [](const auto& study) { return study.param.name; });

TEST_F(StudyRun, calls_a_launch_cancelled_that_the_user_stopped_so_that_it_is_made_again) {
  stop_after_asks = 60;
  const auto trace = run();
  ASSERT_TRUE(trace);
  ASSERT_LT(trace->launches.size(), 6u);
  EXPECT_EQ(trace->launches.back().outcome.kind, trace::OutcomeKind::cancelled);
}

}  // namespace
}  // namespace paceline::study
