#include "worker/forced_acceptance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace paceline::worker {
namespace {

using trace::AcceptSchedule;
using trace::ForcedAcceptance;

ForcedAcceptance length(double tokens, AcceptSchedule schedule = AcceptSchedule::geometric) {
  return {.length = tokens, .schedule = schedule, .rates = {}};
}

ForcedAcceptance rates(std::vector<double> by_place) {
  return {.length = {}, .schedule = AcceptSchedule::geometric, .rates = std::move(by_place)};
}

std::string refusal(const ForcedAcceptance& asked, int longest) {
  const auto found = accept_rates(asked, longest);
  return found ? "was not refused" : found.error().message;
}

// llama-server v0.5.0 resolved --spec-synth-len 3 with drafts of 4 to these.
TEST(AcceptRates, geometric_are_llama_servers) {
  const std::vector<double> expected = {0.741, 0.549, 0.407, 0.302};
  const auto found = accept_rates(length(3), 4).value();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 6e-4);
}

TEST(AcceptRates, of_either_schedule_sum_to_the_accepted_tokens) {
  for (const auto schedule : {AcceptSchedule::geometric, AcceptSchedule::minimum_variance})
    for (const double tokens : {1.0, 1.3, 3.0, 7.9, 8.0}) {
      const auto found = accept_rates(length(tokens, schedule), 7).value();
      EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 1.0), tokens, 1e-9);
    }
}

TEST(AcceptRates, of_least_variance_are_certain_but_for_one_place) {
  EXPECT_EQ(accept_rates(length(3.25, AcceptSchedule::minimum_variance), 4).value(),
            (std::vector<double>{1, 1, 0.25, 0}));
}

TEST(AcceptRates, asked_for_by_place_are_those) {
  EXPECT_EQ(accept_rates(rates({0.9, 0.9, 0}), 3).value(), (std::vector<double>{0.9, 0.9, 0}));
}

TEST(AcceptRates, that_no_draft_can_have_are_refused) {
  for (const double tokens : {0.9, 8.1, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_NE(refusal(length(tokens), 7).find("a pass yields 1 to 8"), std::string::npos);
  EXPECT_NE(refusal(rates({0.5}), 2).find("has 1 rates, and the longest draft 2"),
            std::string::npos);
  EXPECT_NE(refusal(rates({0.5, 0.6}), 2).find("0.6 cannot follow 0.5"), std::string::npos);
  EXPECT_NE(refusal(rates({1.1, 0.6}), 2).find("1.1 cannot follow 1"), std::string::npos);
  EXPECT_NE(refusal(rates({0.5, -0.1}), 2).find("-0.1 cannot follow"), std::string::npos);
}

TEST(AcceptanceDraw, accepts_each_place_as_often_as_its_rate_says) {
  constexpr int drafts = 20'000;
  const std::vector<double> by_place = {0.8, 0.5, 0.5, 0.05};
  AcceptanceDraw draw(by_place, 7);
  std::vector<int> counts(by_place.size());
  for (int i = 0; i < drafts; ++i) {
    const int accepted = draw.accepted(4);
    for (int place = 0; place < accepted; ++place) ++counts[static_cast<std::size_t>(place)];
  }
  for (std::size_t place = 0; place < by_place.size(); ++place) {
    const double rate = by_place[place];
    const double error = std::sqrt(rate * (1 - rate) / drafts);
    EXPECT_NEAR(static_cast<double>(counts[place]) / drafts, rate, 4 * error) << place;
  }
  EXPECT_EQ(counts[1], counts[2]) << "a place is accepted with the one before it, or not at all";
}

TEST(AcceptanceDraw, accepts_no_more_than_was_drafted_and_everything_when_certain) {
  AcceptanceDraw certain({1, 1, 1}, 1);
  AcceptanceDraw never({0, 0, 0}, 1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(certain.accepted(3), 3);
    EXPECT_EQ(certain.accepted(2), 2);
    EXPECT_EQ(certain.accepted(0), 0);
    EXPECT_EQ(never.accepted(3), 0);
  }
}

TEST(AcceptanceDraw, is_the_same_for_a_seed) {
  AcceptanceDraw one({0.7, 0.4}, 5);
  AcceptanceDraw same({0.7, 0.4}, 5);
  AcceptanceDraw other({0.7, 0.4}, 6);
  int differing = 0;
  for (int i = 0; i < 200; ++i) {
    const int accepted = one.accepted(2);
    EXPECT_EQ(accepted, same.accepted(2));
    differing += accepted != other.accepted(2) ? 1 : 0;
  }
  EXPECT_GT(differing, 0);
}

}  // namespace
}  // namespace paceline::worker
