#include "metrics/losslessness.hpp"

#include <gtest/gtest.h>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using tests::RequestBuilder;

trace::Request text(const std::string& id, const std::vector<std::int32_t>& tokens) {
  return RequestBuilder(id).text(tokens).build();
}

trace::Trace greedy(std::vector<trace::Request> plain, std::vector<trace::Request> drafted) {
  auto trace =
      tests::trace_of({"plain", "dflash"}, {tests::launch_of("plain", 0, std::move(plain)),
                                            tests::launch_of("dflash", 0, std::move(drafted))});
  for (auto& arm : trace.header.arms) arm.sampling.temp = 0;
  return trace;
}

std::optional<metrics::Lossless> compare(const trace::Trace& trace) {
  return metrics::compare_texts(trace, "dflash", "plain", "code");
}

TEST(losslessness, equal_texts_are_equal_however_they_were_cut_into_passes) {
  const auto drafted = RequestBuilder("a").draft(1, 2, 2).build();  // 1000, then 1, 2, 3
  const auto result = compare(greedy({text("a", {1, 2, 3})}, {drafted}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->texts, 1);
  EXPECT_EQ(result->equal, 1);
  EXPECT_EQ(result->says, "equal");
}

TEST(losslessness, the_first_token_that_differs_is_named) {
  // Token 1 is the prefill's in both; the third is 2 against 9.
  const auto result = compare(
      greedy({text("a", {1, 2}), text("b", {1, 2, 3})}, {text("a", {1, 2}), text("b", {1, 9, 3})}));
  EXPECT_EQ(result->texts, 2);
  EXPECT_EQ(result->equal, 1);
  EXPECT_EQ(result->says, "differs, cause unknown: first at token 3 of prompt b");
}

TEST(losslessness, a_text_that_ends_early_differs_where_it_ends) {
  const auto result = compare(greedy({text("a", {1, 2, 3})}, {text("a", {1})}));
  EXPECT_EQ(result->says, "differs, cause unknown: first at token 3 of prompt a");
}

TEST(losslessness, the_first_of_several_differences_is_told) {
  const auto result =
      compare(greedy({text("a", {1}), text("b", {1})}, {text("a", {8}), text("b", {8})}));
  EXPECT_EQ(result->equal, 0);
  EXPECT_NE(result->says.find("prompt a"), std::string::npos);
}

TEST(losslessness, only_greedy_runs_are_compared) {
  auto trace = greedy({text("a", {1})}, {text("a", {1})});
  trace.header.arms[0].sampling.temp = 0.7;
  EXPECT_FALSE(compare(trace));
  trace.header.arms[0].sampling.temp.reset();
  EXPECT_FALSE(compare(trace));
}

TEST(losslessness, plains_first_done_request_of_a_prompt_is_taken_whatever_the_order) {
  auto later = text("a", {7, 7});
  later.repetition = 1;
  auto failed = text("a", {5, 5});
  failed.outcome.kind = trace::OutcomeKind::cancelled;
  auto warm_up = text("a", {4});
  warm_up.warm_up = true;
  const auto result =
      compare(greedy({warm_up, failed, later, text("a", {1, 2})}, {text("a", {1, 2})}));
  EXPECT_EQ(result->says, "equal");
  EXPECT_EQ(result->texts, 1);
}

TEST(losslessness, every_request_of_the_arm_counts_and_not_only_its_first) {
  auto later = text("a", {1, 7});
  later.repetition = 1;
  const auto result = compare(greedy({text("a", {1, 2})}, {text("a", {1, 2}), later}));
  EXPECT_EQ(result->texts, 1);
  EXPECT_EQ(result->equal, 0);
  EXPECT_EQ(result->each.at(0).first_difference, 3);
}

TEST(losslessness, without_a_common_text_nothing_is_said) {
  EXPECT_FALSE(compare(greedy({text("a", {1})}, {text("b", {1})})));
}

/// Plain says 1000 1 2 9 and the drafting arm 1000 1 2 3, its last three in a pass of width 8.
trace::Trace differing() {
  return greedy({text("a", {1, 2, 9})}, {RequestBuilder("a").draft(1, 7, 2).build()});
}

/// Adds what a plain engine said of the text later: the margin at a token, the 99th percentile of
/// |logit difference| of a width.
trace::Trace reread(trace::Trace trace, int token, double margin, int width, double p99) {
  auto launch = tests::launch_of("plain", 1, {});
  launch.index = 2;
  launch.rereadings = {{{{width, 1000, p99, 9}}, {{"code", "a", token, margin}}}};
  trace.launches.push_back(launch);
  return trace;
}

// The definition: near_tie when under 3 x the 99th percentile. 0.25 and 0.75 are exact in binary.
TEST(losslessness, a_margin_under_three_times_the_percentile_is_a_near_tie_and_one_at_it_is_not) {
  const auto verdict = [](double margin) {
    return compare(reread(differing(), 4, margin, 8, 0.25))->verdict;
  };
  EXPECT_EQ(verdict(0.0), metrics::Verdict::near_tie);
  EXPECT_EQ(verdict(0.7499), metrics::Verdict::near_tie);
  EXPECT_EQ(verdict(0.75), metrics::Verdict::wrong);
  EXPECT_EQ(verdict(4.0), metrics::Verdict::wrong);
}

TEST(losslessness, a_judged_text_tells_what_it_was_judged_by) {
  const auto result = compare(reread(differing(), 4, 0.5, 8, 0.25));
  EXPECT_EQ(result->near_tie, 1);
  EXPECT_EQ(result->equal + result->wrong + result->unknown, 0);
  const auto& one = result->each.at(0);
  EXPECT_EQ(one.first_difference, 4);
  EXPECT_EQ(one.width, 8);
  EXPECT_EQ(one.margin, 0.5);
  EXPECT_EQ(one.limit, 0.75);
  EXPECT_EQ(result->says,
            "near_tie: first at token 4 of prompt a, where plain's two best logits are 0.5 apart "
            "and width 8 accounts for 0.75");
}

TEST(losslessness, without_the_margin_there_or_the_percentile_of_that_width_the_cause_is_unknown) {
  for (const auto& trace :
       {differing(), reread(differing(), 3, 0.5, 8, 0.25), reread(differing(), 4, 0.5, 7, 0.25)}) {
    const auto result = compare(trace);
    EXPECT_EQ(result->verdict, metrics::Verdict::unknown);
    EXPECT_EQ(result->unknown, 1);
    EXPECT_EQ(result->says, "differs, cause unknown: first at token 4 of prompt a");
  }
}

TEST(losslessness, what_another_plain_arm_read_again_judges_nothing) {
  auto trace = reread(differing(), 4, 0.5, 8, 0.25);
  trace.launches.back().arm = "plain@k:q8_0";
  EXPECT_EQ(compare(trace)->verdict, metrics::Verdict::unknown);
}

TEST(losslessness, differences_are_from_the_plain_arm_of_the_same_kv_types) {
  auto trace = differing();
  EXPECT_EQ(metrics::find_divergences(trace).at(0).plain, "plain");
  trace.header.arms[1].plain = "plain@k:q8_0";
  EXPECT_TRUE(metrics::find_divergences(trace).empty()) << "that arm said nothing";
}

TEST(losslessness, the_worst_text_decides_and_each_is_counted) {
  auto trace = greedy(
      {text("a", {1, 2, 9}), text("b", {1, 2, 9}), text("c", {1, 2, 3})},
      {RequestBuilder("a").draft(1, 7, 2).build(), RequestBuilder("b").draft(1, 7, 2).build(),
       RequestBuilder("c").draft(1, 7, 2).build()});
  trace = reread(std::move(trace), 4, 0.5, 8, 0.25);
  trace.launches.back().rereadings[0].margins.push_back({"code", "b", 4, 2.0});
  const auto result = compare(trace);
  EXPECT_EQ(result->verdict, metrics::Verdict::wrong);
  EXPECT_EQ(result->says.find("wrong: first at token 4 of prompt b"), 0u) << result->says;
  EXPECT_EQ(result->equal, 1);
  EXPECT_EQ(result->near_tie, 1);
  EXPECT_EQ(result->wrong, 1);
}

// A pass of one token rounds as plain's does, and reads what wider ones wrote.
TEST(losslessness, a_pass_of_one_token_is_judged_by_the_widest_pass_before_it) {
  const auto drafted = RequestBuilder("a").draft(1, 2, 0).draft(1, 7, 0).plain(1).draft(1, 9, 0);
  const auto found = metrics::find_divergences(greedy({text("a", {1, 2, 9})}, {drafted.build()}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].token, 4);
  EXPECT_EQ(found[0].width, 8);
  EXPECT_EQ(found[0].plain_tokens, (std::vector<std::int32_t>{1000, 1, 2, 9}));
}

TEST(losslessness, the_token_that_prefill_made_has_no_width) {
  auto drafted = text("a", {1});
  drafted.emissions[0].tokens = {1001};
  const auto found = metrics::find_divergences(greedy({text("a", {1})}, {drafted}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].token, 1);
  EXPECT_EQ(found[0].width, 0);
}

TEST(losslessness, arms_whose_text_is_not_their_own_are_not_held_against_plain) {
  auto trace = differing();
  trace.header.arms[1].setup.forced = trace::ForcedAcceptance{};
  EXPECT_TRUE(metrics::find_divergences(trace).empty());
  trace = differing();
  trace.header.force_text = true;
  EXPECT_TRUE(metrics::find_divergences(trace).empty());
  EXPECT_FALSE(compare(trace));
}

// python3: sha256(struct.pack("<3i", 1000, 1, 2)) and of 1000, 1, 2, 3.
TEST(losslessness, digests_are_those_of_the_ids_as_four_bytes_each) {
  const auto result = compare(greedy({text("a", {1, 2, 3})}, {text("a", {1, 2})}));
  EXPECT_EQ(result->each.at(0).digest,
            "c212f8ed97b02f4629cbad8ccc37c97599b14cbfd71d363ac71629e4e2c1e073");
  EXPECT_EQ(result->each.at(0).plain_digest,
            "208b950b9527402d6d54c81627b8811b877fd8e57ddb9bec9f8db157209bb9ad");
}

// Holds a fault: ids that a server does not say were all alike, and so were the texts.
TEST(losslessness, texts_whose_ids_are_not_known_are_compared_as_they_are_spelt) {
  auto plain = text("a", {1, trace::unknown_token});
  auto drafted = plain;
  plain.text = drafted.text = "once more";
  const auto same = compare(greedy({plain}, {drafted}));
  EXPECT_EQ(same->verdict, metrics::Verdict::equal);
  EXPECT_EQ(same->each.at(0).digest, "");
  drafted.text = "once less";
  const auto other = compare(greedy({plain}, {drafted}));
  EXPECT_EQ(other->verdict, metrics::Verdict::unknown);
  EXPECT_EQ(other->says, "differs, cause unknown: prompt a, whose token ids are not known");
  EXPECT_TRUE(metrics::find_divergences(greedy({plain}, {drafted})).empty());
}

}  // namespace
