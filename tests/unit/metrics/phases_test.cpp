#include "metrics/phases.hpp"

#include <gtest/gtest.h>

#include "metrics/summary.hpp"
#include "support/request_builder.hpp"
#include "support/simulated_study.hpp"

namespace {

using namespace paceline;
using tests::RequestBuilder;

constexpr trace::Nanoseconds ms = 1'000'000;

/// Two passes of 40 and 60 ms with phases of 28 ms each.
trace::Request synced_request() {
  auto request = RequestBuilder("p").draft(40, 3, 1).draft(60, 3, 2).build();
  request.synced = true;
  for (auto& pass : request.passes)
    pass.phases = {1 * ms, 2 * ms, 10 * ms, 3 * ms, 4 * ms, 5 * ms, 3 * ms};
  return request;
}

std::optional<metrics::PhaseSummary> phases_in(std::vector<trace::Request> requests) {
  return metrics::phases_of(
      tests::trace_of({"dflash"}, {tests::launch_of("dflash", 0, std::move(requests))}), "dflash",
      "code");
}

TEST(phases, seconds_per_pass_of_each_phase_and_the_rest_of_the_synced_pass) {
  const auto phases = phases_in({synced_request()});
  ASSERT_TRUE(phases);
  EXPECT_EQ(phases->passes, 2);
  EXPECT_NEAR(phases->draft_s, 0.001, 1e-12);
  EXPECT_NEAR(phases->checkpoint_s, 0.002, 1e-12);
  EXPECT_NEAR(phases->verify_s, 0.010, 1e-12);
  EXPECT_NEAR(phases->process_s, 0.003, 1e-12);
  EXPECT_NEAR(phases->sample_s, 0.004, 1e-12);
  EXPECT_NEAR(phases->accept_s, 0.005, 1e-12);
  EXPECT_NEAR(phases->rollback_s, 0.003, 1e-12);
  EXPECT_NEAR(phases->synced_total_s, 0.050, 1e-12);
  EXPECT_NEAR(phases->other_s, 0.022, 1e-12);
}

TEST(phases, the_total_reaches_to_the_end_of_the_last_pass_not_its_last_token) {
  auto request = synced_request();
  request.passes[1].ended_ns += 20 * ms;
  EXPECT_NEAR(phases_in({request})->synced_total_s, 0.060, 1e-12);
}

TEST(phases, phases_longer_than_their_pass_show_as_a_negative_rest) {
  auto request = synced_request();
  request.passes[0].phases->verify_ns = 200 * ms;
  EXPECT_NEAR(phases_in({request})->other_s, 0.022 - 0.095, 1e-12);
}

TEST(phases, phases_that_fill_their_passes_leave_a_rest_of_exactly_nothing) {
  // 0.1 + 0.2 style sums of seconds would leave a negative rest and a false contradiction.
  auto request = RequestBuilder("p").draft(28, 3, 1).draft(28, 3, 2).draft(28, 3, 2).build();
  request.synced = true;
  for (auto& pass : request.passes)
    pass.phases = {1 * ms, 2 * ms, 10 * ms, 3 * ms, 4 * ms, 5 * ms, 3 * ms};
  EXPECT_EQ(phases_in({request})->other_s, 0);
}

TEST(phases, only_synced_requests_of_the_class_that_recorded_every_pass_are_taken) {
  auto unsynced = synced_request();
  unsynced.synced = false;
  auto warm_up = synced_request();
  warm_up.warm_up = true;
  auto other_class = synced_request();
  other_class.workload_class = "prose";
  auto partial = synced_request();
  partial.passes[1].phases.reset();
  auto failed = synced_request();
  failed.outcome.kind = trace::OutcomeKind::crashed;
  EXPECT_FALSE(phases_in({unsynced, warm_up, other_class, partial, failed}));
}

TEST(phases, the_unsynced_total_is_that_of_the_headline_run) {
  // Accepted 3 of 3 in every pass: E - 1 = 16 is 4 whole passes.
  engine::simulated::Truth truth;
  truth.acceptance = [](const trace::Setup&, std::string_view) {
    return std::vector<double>{1, 1, 1};
  };
  truth.phases.draft_s = 0.002;
  truth.phases.process_s = 0.001;
  truth.phases.between_s = 0.004;
  truth.phases.sync_s = 0.003;
  auto plan = tests::two_arm_plan(8, 3);
  plan.arms[1].setup.draft_n_max = 3;
  plan.n_predict = 17;
  plan.synced_too = true;
  const auto trace = tests::run_study(truth, plan);
  const auto summary = metrics::summarise(trace, metrics::equal_mix(trace));
  const auto& item = summary.arms[1].classes[0];
  ASSERT_TRUE(item.phases);
  EXPECT_NEAR(item.phases->unsynced_total_s, 0.017, 1e-9);
  EXPECT_NEAR(item.phases->synced_total_s, 0.020, 1e-9);
  EXPECT_NEAR(item.phases->other_s, 0.007, 1e-9);
  EXPECT_NEAR(*item.seconds_per_pass.value, 0.017, 1e-9);
  ASSERT_TRUE(item.phases->overlap_s);
  EXPECT_NEAR(*item.phases->overlap_s, 0.003, 1e-9) << "what synchronising added";
}

}  // namespace
