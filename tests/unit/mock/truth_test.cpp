#include "mock/truth.hpp"

#include <gtest/gtest.h>

namespace paceline::mock {
namespace {

Truth speculating(std::vector<Round> rounds) {
  Truth truth;
  truth.speculates = true;
  truth.rounds = std::move(rounds);
  return truth;
}

Limits limit(int tokens) { return {tokens, false}; }

/// E - 1 = F - W + A - X, with every letter counted on its own.
void expect_identity(const Plan& plan) {
  EXPECT_EQ(plan.output_tokens() - 1,
            plan.target_passes() - plan.superseded() + plan.accepted() - plan.overshoot());
  EXPECT_EQ(plan.target_passes(),
            plan.passes_speculative() + plan.passes_plain() + plan.passes_replay());
}

TEST(MockPlan, without_speculation_makes_a_pass_a_token_after_the_first) {
  const Plan plan = mock::plan(Truth{}, "abcdefgh", limit(5));
  EXPECT_EQ(plan.prompt_tokens, 2);
  EXPECT_EQ(plan.output_tokens(), 5);
  EXPECT_EQ(plan.passes_plain(), 4);
  EXPECT_EQ(plan.offered(), 0);
  expect_identity(plan);
}

TEST(MockPlan, of_one_token_has_no_pass) {
  EXPECT_EQ(mock::plan(Truth{}, "a", limit(1)).target_passes(), 0);
  EXPECT_EQ(mock::plan(Truth{}, "a", limit(0)).output_tokens(), 1);
}

TEST(MockPlan, adds_the_accepted_tokens_and_one_of_its_own_a_pass) {
  // 1 + (2+1) + (0+1) + 1 + (3+1) = 10 tokens.
  const Plan plan =
      mock::plan(speculating({{3, 2, 0}, {3, 0, 0}, {0, 0, 0}, {3, 3, 0}}), "a", limit(10));
  EXPECT_EQ(plan.target_passes(), 4);
  EXPECT_EQ(plan.passes_speculative(), 3);
  EXPECT_EQ(plan.passes_plain(), 1);
  EXPECT_EQ(plan.offered(), 9);
  EXPECT_EQ(plan.accepted(), 5);
  EXPECT_EQ(plan.overshoot(), 0);
  EXPECT_EQ(plan.offered_at(), (std::vector<long>{3, 3, 3}));
  EXPECT_EQ(plan.accepted_at(), (std::vector<long>{2, 2, 1}));
  EXPECT_EQ(plan.accepted_lengths(), (std::vector<long>{1, 0, 1, 1}));
  expect_identity(plan);
}

TEST(MockPlan, never_drafts_past_the_limit_where_the_server_caps_it) {
  // Six tokens left: 3+1, then two left, so one may be drafted.
  const Plan plan = mock::plan(speculating({{3, 3, 0}}), "a", limit(7));
  ASSERT_EQ(plan.passes.size(), 2u);
  EXPECT_EQ(plan.passes[1].offered, 1);
  EXPECT_EQ(plan.overshoot(), 0);
  expect_identity(plan);
}

TEST(MockPlan, throws_away_what_is_past_the_limit_where_no_server_caps_it) {
  Truth truth = speculating({{3, 3, 0}});
  truth.draft_capped = false;
  const Plan plan = mock::plan(truth, "a", limit(7));
  ASSERT_EQ(plan.passes.size(), 2u);
  EXPECT_EQ(plan.accepted(), 6);
  EXPECT_EQ(plan.overshoot(), 2);
  expect_identity(plan);
}

TEST(MockPlan, emits_accepted_and_two_in_the_two_passes_of_a_replay) {
  // The verify accepts 1 of 3; its replay emits that one, the target's own and one more.
  const Plan plan = mock::plan(speculating({{3, 1, 1}}), "a", limit(4));
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_EQ(plan.passes[0].emitted, 3);
  EXPECT_EQ(plan.target_passes(), 2);
  EXPECT_EQ(plan.superseded(), 0);
  EXPECT_EQ(plan.passes_replay(), 1);
  expect_identity(plan);
}

TEST(MockPlan, counts_the_failed_verify_before_a_second_replay_as_superseded) {
  const Plan plan = mock::plan(speculating({{3, 1, 2}}), "a", limit(4));
  EXPECT_EQ(plan.target_passes(), 3);
  EXPECT_EQ(plan.superseded(), 1);
  expect_identity(plan);
}

TEST(MockPlan, throws_away_what_was_accepted_past_the_end_token) {
  // Seven of eight are left when 3 are accepted; the text ends with the second token of the pass.
  Truth truth = speculating({{3, 3, 0}});
  truth.eos_after = 3;
  const Plan plan = mock::plan(truth, "a", limit(8));
  EXPECT_TRUE(plan.ended_by_token);
  EXPECT_EQ(plan.output_tokens(), 3);
  EXPECT_EQ(plan.tokens.back().id, end_token);
  EXPECT_EQ(plan.accepted(), 3);
  EXPECT_EQ(plan.overshoot(), 2);
  expect_identity(plan);
}

TEST(MockPlan, goes_on_past_the_end_token_when_asked_to_ignore_it) {
  Truth truth;
  truth.eos_after = 3;
  EXPECT_EQ(mock::plan(truth, "a", {8, true}).output_tokens(), 8);
  EXPECT_FALSE(mock::plan(truth, "a", {2, false}).ended_by_token);
}

TEST(MockPlan, keeps_the_identity_whatever_chance_does) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Truth truth;
    truth.seed = seed;
    truth.speculates = true;
    truth.draft_length = static_cast<int>(seed % 9);
    truth.fire_rate = 0.7;
    truth.replays = seed % 2 == 0;
    truth.draft_capped = seed % 3 == 0;
    if (seed % 5 == 0) truth.eos_after = static_cast<int>(1 + seed % 60);
    expect_identity(mock::plan(truth, "some prompt", limit(64)));
  }
}

TEST(MockPlan, makes_the_same_text_with_speculation_and_without) {
  Truth truth;
  const std::string plain = mock::plan(truth, "prompt", limit(40)).text();
  truth.speculates = true;
  EXPECT_EQ(mock::plan(truth, "prompt", limit(40)).text(), plain);
  EXPECT_NE(mock::plan(truth, "another", limit(40)).text(), plain);
}

TEST(MockPlan, accepts_as_often_as_it_was_told) {
  Truth truth;
  truth.context_per_slot = 100'000;
  truth.speculates = true;
  truth.acceptance = {0.8, 0.5, 0.25};
  const Plan plan = mock::plan(truth, "prompt", limit(40'000));
  const auto passes = static_cast<double>(plan.passes_speculative());
  // 0.8; 0.8 x 0.5; 0.8 x 0.5 x 0.25: five standard errors of 20 000 passes are 0.018.
  EXPECT_NEAR(static_cast<double>(plan.accepted_at()[0]) / passes, 0.8, 0.018);
  EXPECT_NEAR(static_cast<double>(plan.accepted_at()[1]) / passes, 0.4, 0.018);
  EXPECT_NEAR(static_cast<double>(plan.accepted_at()[2]) / passes, 0.1, 0.018);
}

TEST(MockPlan, splits_a_character_over_two_tokens_with_ids_of_their_own) {
  Truth truth;
  truth.split_every = 3;
  const Plan plan = mock::plan(truth, "a", limit(5));
  EXPECT_EQ(plan.tokens[2].text + plan.tokens[3].text, "€");
  EXPECT_NE(plan.tokens[2].id, plan.tokens[3].id);
}

TEST(MockPlan, always_decodes_one_prompt_token_and_counts_the_batches_of_the_rest) {
  Truth truth;
  truth.prompt_tokens = 10;
  truth.prompt_batch = 4;
  EXPECT_EQ(mock::plan(truth, "a", limit(1)).prompt_batches, 3);
  truth.cached_tokens = 10;
  const Plan plan = mock::plan(truth, "a", limit(1));
  EXPECT_EQ(plan.prompt_cached, 9);
  EXPECT_EQ(plan.prompt_processed, 1);
  EXPECT_EQ(plan.prompt_batches, 1);
}

}  // namespace
}  // namespace paceline::mock
