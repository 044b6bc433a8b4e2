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

TEST(losslessness, the_first_done_request_of_a_prompt_is_taken_whatever_the_order) {
  auto later = text("a", {7, 7});
  later.repetition = 1;
  auto failed = text("a", {5, 5});
  failed.outcome.kind = trace::OutcomeKind::cancelled;
  auto warm_up = text("a", {4});
  warm_up.warm_up = true;
  const auto result =
      compare(greedy({text("a", {1, 2})}, {warm_up, failed, later, text("a", {1, 2})}));
  EXPECT_EQ(result->says, "equal");
  EXPECT_EQ(result->texts, 1);
}

TEST(losslessness, without_a_common_text_nothing_is_said) {
  EXPECT_FALSE(compare(greedy({text("a", {1})}, {text("b", {1})})));
}

}  // namespace
