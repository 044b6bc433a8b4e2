#include <gtest/gtest.h>

#include "engine/server/server_engine.hpp"
#include "metrics/load.hpp"
#include "metrics/normalise.hpp"
#include "study/load.hpp"
#include "support/mock_server.hpp"
#include "support/request_builder.hpp"

// Loads on a mock server that speaks as llama-server does, in this process and without waiting:
// counts only, as nothing here has a speed.

namespace paceline::study {
namespace {

constexpr int tokens = 24;

mock::Options with_slots(int slots, bool speculates) {
  mock::Options options;
  options.truth.slots = slots;
  options.truth.speculates = speculates;
  return options;
}

std::string prompt_text(const PlannedRequest& request) {
  return "prompt number " + std::to_string(request.prompt);
}

LoadSurroundings surroundings() {
  LoadSurroundings around;
  around.job = [](const PlannedRequest& request) {
    protocol::Generate job;
    job.prompt = prompt_text(request);
    job.n_predict = tokens;
    return job;
  };
  around.stop_asked = [] { return false; };
  return around;
}

PlannedCell cell_of(int level, std::size_t requests) {
  PlannedCell cell{trace::LoadLoop::closed, level, 0, {}};
  for (std::size_t i = 0; i < requests; ++i) cell.requests.push_back({i, 0, {}});
  return cell;
}

trace::LoadCell measure(const support::MockServer& mock, const PlannedCell& cell) {
  engine::server::ServerEngine engine{engine::server::ServerOptions{}};
  trace::Setup setup;
  setup.url = mock.url();
  setup.spec_type = trace::SpecType::undeclared;
  const auto facts = engine.open(setup, {});
  EXPECT_TRUE(facts) << facts.error().reason;
  auto measured = run_load(engine, cell, surroundings());
  for (auto& request : measured.requests) metrics::normalise(request, false);
  return measured;
}

metrics::LoadSummary summary_of(trace::LoadCell cell) {
  // How slow the machine was that ran this is no matter of the test.
  cell.client_cpu_s.reset();
  cell.lag_p99_s.reset();
  auto launch = tests::launch_of("server", 0, {});
  launch.loads.push_back(std::move(cell));
  auto trace = tests::trace_of({"server"}, {launch});
  trace.header.rounds = 1;
  return metrics::summarise_loads(trace).cells.at(0);
}

TEST(LoadOnAServer, counts_every_pass_and_token_of_all_requests) {
  const support::MockServer mock(with_slots(4, true));
  const auto cell = cell_of(4, 12);
  const auto measured = measure(mock, cell);
  ASSERT_EQ(measured.requests.size(), 12u);
  long passes = 0, output = 0, offered = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(measured.requests[i].outcome.kind, trace::OutcomeKind::done)
        << measured.requests[i].outcome.reason;
    const auto truth = mock.plan(prompt_text(cell.requests[i]), tokens);
    passes += truth.target_passes();
    output += truth.output_tokens();
    offered += truth.offered();
  }
  const auto summary = summary_of(measured);
  EXPECT_EQ(summary.done, 12);
  EXPECT_EQ(summary.sequence_passes, passes);
  EXPECT_EQ(summary.offered, offered);
  EXPECT_EQ(summary.residual_passes, 0);
  EXPECT_EQ(summary.residual_tokens, 0);
  EXPECT_NEAR(*summary.tokens_per_sequence_pass.value,
              static_cast<double>(output - 12) / static_cast<double>(passes), 1e-12);
}

TEST(LoadOnAServer, has_a_forward_a_pass_and_prompt_where_requests_share_none) {
  const support::MockServer mock(with_slots(2, false));
  const auto summary = summary_of(measure(mock, cell_of(2, 6)));
  ASSERT_TRUE(summary.forwards.known()) << summary.forwards.reason();
  EXPECT_EQ(summary.sequence_passes, 6 * (tokens - 1));
  EXPECT_EQ(summary.forwards, 6 * (tokens - 1) + 6);
}

TEST(LoadOnAServer, asks_the_server_nothing_but_its_counters_at_both_ends) {
  const support::MockServer mock(with_slots(1, false));
  measure(mock, cell_of(1, 5));
  // Once while opening, to see that there are any, and once before and after the cell.
  EXPECT_EQ(mock.requests_to("/metrics"), 3);
}

TEST(LoadOnAServer, counts_latency_from_when_a_request_was_due) {
  const support::MockServer mock(with_slots(1, false));
  PlannedCell cell{trace::LoadLoop::open, 0, 1000, {}};
  for (int i = 0; i < 4; ++i)
    cell.requests.push_back({static_cast<std::size_t>(i), 0, std::chrono::milliseconds(i)});
  const auto measured = measure(mock, cell);
  ASSERT_EQ(measured.requests.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& timeline = measured.requests[i].answer->timeline;
    EXPECT_EQ(timeline.scheduled_ns, measured.began_ns + static_cast<long>(i) * 1'000'000);
    EXPECT_LE(timeline.scheduled_ns, timeline.sent_ns);
  }
}

}  // namespace
}  // namespace paceline::study
