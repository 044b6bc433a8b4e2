#include "metrics/counts.hpp"

#include <gtest/gtest.h>

#include "support/request_builder.hpp"

namespace {

using paceline::metrics::add;
using paceline::metrics::count_request;
using paceline::metrics::Counts;
using paceline::metrics::effective_prompts;
using paceline::tests::RequestBuilder;

TEST(counts, a_request_is_counted_in_the_letters_of_the_definitions) {
  // Drafts 3/3, 3/1, 2/0 and a plain pass: 1 + 4 + 2 + 1 + 1 = 9 tokens in 20+30+40+10 = 100 ms.
  const auto counts = count_request(
      RequestBuilder("p").draft(20, 3, 3).draft(30, 3, 1).draft(40, 2, 0).plain(10).build());
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->requests, 1);
  EXPECT_EQ(counts->output_tokens, 9);
  EXPECT_EQ(counts->decode_tokens, 8);
  EXPECT_DOUBLE_EQ(counts->decode_s, 0.1);
  EXPECT_EQ(counts->passes, 4);
  EXPECT_EQ(counts->passes_speculative, 3);
  EXPECT_EQ(counts->passes_plain, 1);
  EXPECT_EQ(counts->passes_replay, 0);
  EXPECT_EQ(counts->passes_superseded, 0);
  EXPECT_EQ(counts->attempts, 3);
  EXPECT_EQ(counts->generated, 8);
  EXPECT_EQ(counts->offered, 8);
  EXPECT_EQ(counts->tested, 6);  // 3 + 2 + 1
  EXPECT_EQ(counts->accepted, 4);
  EXPECT_EQ(counts->accepted_in_passes, 4);
  EXPECT_EQ(counts->overshoot, 0);
  EXPECT_EQ(counts->residual_passes, 0);
  EXPECT_DOUBLE_EQ(counts->prefill_s.number(), 1.0);
  EXPECT_EQ(counts->prefill_tokens, 10);
}

TEST(counts, positions_are_conditional_on_being_offered_and_reached) {
  // Drafts (offered/accepted) 3/3, 3/1, 2/0, 1/1. By hand:
  //   i=1 offered 4 reached 4 accepted 3; i=2 offered 3 reached 2 accepted 1;
  //   i=3 offered 2 reached 1 accepted 1. The 1/1 draft was accepted at 1 and never reached 2.
  const auto counts = count_request(
      RequestBuilder("p").draft(1, 3, 3).draft(1, 3, 1).draft(1, 2, 0).draft(1, 1, 1).build());
  ASSERT_TRUE(counts);
  const int expected[][3] = {{4, 4, 3}, {3, 2, 1}, {2, 1, 1}};
  ASSERT_EQ(counts->positions.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(counts->positions[i].offered, expected[i][0]) << i;
    EXPECT_EQ(counts->positions[i].reached, expected[i][1]) << i;
    EXPECT_EQ(counts->positions[i].accepted, expected[i][2]) << i;
  }
  const std::map<std::pair<int, int>, long> histogram{
      {{3, 3}, 1}, {{3, 1}, 1}, {{2, 0}, 1}, {{1, 1}, 1}};
  EXPECT_EQ(counts->histogram, histogram);
  const std::map<int, long> widths{{4, 2}, {3, 1}, {2, 1}};
  EXPECT_EQ(counts->widths, widths);
  EXPECT_EQ(counts->attempted_widths, widths);
}

TEST(counts, a_replay_is_a_pass_that_leaves_no_residual) {
  const auto counts = count_request(RequestBuilder("p").replayed(10, 3, 1).build());
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->passes, 2);
  EXPECT_EQ(counts->passes_replay, 1);
  EXPECT_EQ(counts->decode_tokens, 3);  // accepted 1, the target's own, and the replay's own
  EXPECT_EQ(counts->accepted, 1);
  EXPECT_EQ(counts->residual_passes, 0);
  const std::map<int, long> attempted{{4, 1}};
  EXPECT_EQ(counts->attempted_widths, attempted);
}

TEST(counts, tokens_past_the_end_of_the_text_are_overshoot) {
  const auto counts = count_request(RequestBuilder("p").draft_cut(10, 4, 3, 2).build());
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->decode_tokens, 2);
  EXPECT_EQ(counts->accepted, 3);
  EXPECT_EQ(counts->overshoot, 2);
  EXPECT_EQ(counts->residual_passes, 0);
}

TEST(counts, a_superseded_pass_is_taken_off_the_identity) {
  auto request = RequestBuilder("p").plain(10).plain(10).build();
  request.passes[0].superseded = true;
  request.emissions.erase(request.emissions.begin() + 1);
  const auto counts = count_request(request);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->passes_superseded, 1);
  EXPECT_EQ(counts->residual_passes, 0);
}

TEST(counts, a_lost_pass_and_a_lost_emission_have_residuals_of_opposite_sign) {
  auto lost_pass = RequestBuilder("p").draft(1, 3, 2).plain(1).build();
  lost_pass.passes.pop_back();
  EXPECT_EQ(count_request(lost_pass)->residual_passes, -1);
  auto lost_emission = RequestBuilder("p").draft(1, 3, 2).plain(1).build();
  lost_emission.emissions.erase(lost_emission.emissions.begin() + 1);
  EXPECT_EQ(count_request(lost_emission)->residual_passes, 1);
}

TEST(counts, generated_is_absent_once_a_drafter_did_not_say) {
  auto request = RequestBuilder("p").draft(1, 3, 2).draft(1, 3, 2).build();
  EXPECT_EQ(count_request(request)->generated, 6);
  request.passes[0].generated.reset();
  const auto counts = count_request(request);
  EXPECT_FALSE(counts->generated.known());
  Counts total = *count_request(RequestBuilder("q").draft(1, 2, 2).build());
  add(total, *counts);
  EXPECT_FALSE(total.generated.known());
}

TEST(counts, a_pass_that_ran_no_drafter_need_not_say_what_it_generated) {
  EXPECT_EQ(count_request(RequestBuilder("p").plain(1).draft(1, 3, 2).build())->generated, 3);
}

TEST(counts, pooling_adds_every_count) {
  const auto first =
      *count_request(RequestBuilder("p").draft(20, 3, 1).replayed(5, 2, 1).plain(10).build());
  auto second_request = RequestBuilder("q").draft_cut(20, 4, 4, 3).build();
  second_request.passes[0].superseded = true;
  second_request.prefill.drafter_ns = 500'000'000;
  const auto second = *count_request(second_request);
  Counts total;
  add(total, first);
  add(total, second);
  EXPECT_EQ(total.requests, 2);
  EXPECT_EQ(total.output_tokens, 7 + 4);
  EXPECT_EQ(total.decode_tokens, 6 + 3);
  EXPECT_DOUBLE_EQ(total.decode_s, 0.06);
  EXPECT_EQ(total.passes, 4 + 1);
  EXPECT_EQ(total.passes_speculative, 2 + 1);
  EXPECT_EQ(total.passes_plain, 1);
  EXPECT_EQ(total.passes_replay, 1);
  EXPECT_EQ(total.passes_superseded, 1);
  EXPECT_EQ(total.attempts, 3);
  EXPECT_EQ(total.generated, 9);
  EXPECT_EQ(total.offered, 5 + 4);
  EXPECT_EQ(total.tested, 2 + 2 + 4);
  EXPECT_EQ(total.accepted, 2 + 4);
  EXPECT_EQ(total.accepted_in_passes, 2 + 4);
  EXPECT_EQ(total.overshoot, 2);
  EXPECT_DOUBLE_EQ(total.prefill_s.number(), 2);
  EXPECT_DOUBLE_EQ(total.prefill_drafter_s.number(), 0.5);
  EXPECT_EQ(total.prefill_tokens, 20);
  ASSERT_EQ(total.positions.size(), 4u);
  EXPECT_EQ(total.positions[1].offered, 3);
  EXPECT_EQ(total.positions[1].reached, 3);
  EXPECT_EQ(total.positions[1].accepted, 1);
  const std::map<int, long> widths{{1, 1}, {3, 2}, {4, 1}, {5, 1}};
  EXPECT_EQ(total.widths, widths);
  const std::map<int, long> attempted{{3, 1}, {4, 1}, {5, 1}};
  EXPECT_EQ(total.attempted_widths, attempted);
  const std::map<std::pair<int, int>, long> histogram{{{2, 1}, 1}, {{3, 1}, 1}, {{4, 4}, 1}};
  EXPECT_EQ(total.histogram, histogram);
}

TEST(counts, windows_of_eight_tokens_seen_before_are_repeated) {
  // The first token is 1000. Then 1..8 twice: windows start at 0..9, ten in all; the one that
  // starts at the second 1 is the first that was seen before.
  const std::vector<std::int32_t> once{1, 2, 3, 4, 5, 6, 7, 8};
  const auto counts = count_request(RequestBuilder("p").text(once).text(once).build());
  EXPECT_EQ(counts->windows_8gram, 10);
  EXPECT_EQ(counts->windows_8gram_repeated, 1);
}

TEST(counts, seven_repeated_tokens_are_no_repeated_window) {
  const std::vector<std::int32_t> seven{1, 2, 3, 4, 5, 6, 7};
  const auto counts =
      count_request(RequestBuilder("p").text(seven).text({50}).text(seven).text({51}).build());
  EXPECT_EQ(counts->windows_8gram, 10);  // 17 tokens
  EXPECT_EQ(counts->windows_8gram_repeated, 0);
}

TEST(counts, an_output_of_seven_tokens_has_no_window_and_one_of_eight_has_one) {
  EXPECT_EQ(count_request(RequestBuilder("p").text({1, 2, 3, 4, 5, 6}).build())->windows_8gram, 0);
  EXPECT_EQ(count_request(RequestBuilder("p").text({1, 2, 3, 4, 5, 6, 7}).build())->windows_8gram,
            1);
}

TEST(counts, a_request_that_did_not_end_as_done_is_not_counted) {
  auto request = RequestBuilder("p").plain(10).build();
  request.outcome.kind = paceline::trace::OutcomeKind::timed_out;
  EXPECT_FALSE(count_request(request));
}

TEST(counts, a_request_without_a_token_is_not_counted) {
  auto request = RequestBuilder("p").build();
  EXPECT_TRUE(count_request(request));
  request.emissions[0].tokens.clear();
  EXPECT_FALSE(count_request(request));
  request.emissions.clear();
  EXPECT_FALSE(count_request(request));
}

TEST(counts, a_clock_that_ran_backwards_is_refused_wherever_it_shows) {
  const auto good = RequestBuilder("p").plain(10).plain(10).build();
  auto emission = good;
  emission.emissions[1].at_ns = emission.emissions[0].at_ns - 1;
  EXPECT_FALSE(count_request(emission));
  auto pass = good;
  pass.passes[1].ended_ns = pass.passes[1].began_ns - 1;
  EXPECT_FALSE(count_request(pass));
  auto prefill = good;
  prefill.prefill.ended_ns = prefill.prefill.began_ns - 1;
  EXPECT_FALSE(count_request(prefill));
}

TEST(counts, several_drafters_are_counted_by_whose_draft_a_pass_carries) {
  auto request = RequestBuilder("p").draft(10, 7, 5).draft(10, 3, 2).plain(10).build();
  request.passes[0].drafter = "ngram-simple";
  request.passes[1].drafter = "draft-mtp";
  request.passes[1].attempts = 2;
  request.passes[2].attempts = 2;  // neither drafted anything, and the second may have tried
  const auto once = count_request(request);
  ASSERT_TRUE(once);
  Counts counts = *once;
  add(counts, *once);
  EXPECT_EQ(counts.attempts, 10);
  EXPECT_EQ(counts.asked, (std::vector<long>{6, 4}));
  const auto& ngram = counts.by_drafter.at("ngram-simple");
  EXPECT_EQ(ngram.passes_speculative, 2);
  EXPECT_EQ(ngram.offered, 14);
  EXPECT_EQ(ngram.tested, 12);
  EXPECT_EQ(ngram.accepted, 10);
  const auto& mtp = counts.by_drafter.at("draft-mtp");
  EXPECT_EQ(mtp.offered, 6);
  EXPECT_EQ(mtp.accepted, 4);
  EXPECT_EQ(mtp.generated, 6);
  EXPECT_FALSE(counts.by_drafter.at("").generated.known());
}

TEST(counts, more_drafters_than_any_engine_has_are_no_count) {
  auto request = RequestBuilder("p").draft(10, 3, 2).build();
  request.passes[0].attempts = 65;
  EXPECT_FALSE(count_request(request));
}

TEST(counts, a_damaged_count_is_refused_before_it_becomes_an_allocation) {
  const auto good = RequestBuilder("p").draft(10, 3, 2).build();
  for (const int damaged : {-1, 2'000'000'000}) {
    for (const auto field : {&paceline::trace::Pass::offered, &paceline::trace::Pass::accepted,
                             &paceline::trace::Pass::tested, &paceline::trace::Pass::attempts,
                             &paceline::trace::Pass::width}) {
      auto request = good;
      request.passes[0].*field = damaged;
      EXPECT_FALSE(count_request(request));
    }
    auto generated = good;
    generated.passes[0].generated = damaged;
    EXPECT_FALSE(count_request(generated));
    auto overshoot = good;
    overshoot.emissions[1].overshoot = damaged;
    EXPECT_FALSE(count_request(overshoot));
    auto accepted = good;
    accepted.emissions[1].accepted = damaged;
    EXPECT_FALSE(count_request(accepted));
    auto prefill = good;
    prefill.prefill.processed_tokens = damaged;
    EXPECT_FALSE(count_request(prefill));
    prefill = good;
    prefill.prefill.prompt_tokens = damaged;
    EXPECT_FALSE(count_request(prefill));
  }
}

TEST(counts, equal_prompts_are_worth_their_number_and_one_long_one_is_worth_one) {
  EXPECT_DOUBLE_EQ(effective_prompts({5, 5, 5, 5}), 4);
  EXPECT_DOUBLE_EQ(effective_prompts({1, 3}), 1.6);  // 16 / 10
  EXPECT_DOUBLE_EQ(effective_prompts({7, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(effective_prompts({}), 0);
}

}  // namespace
