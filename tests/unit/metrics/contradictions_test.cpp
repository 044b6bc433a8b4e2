#include "metrics/contradictions.hpp"

#include <gtest/gtest.h>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::find_contradictions;
using tests::RequestBuilder;

trace::Request good_request() {
  return RequestBuilder("p1").draft(10, 3, 3).draft(10, 3, 1).plain(10).build();
}

std::vector<std::string> found_in(const trace::Request& request) {
  return find_contradictions(
      tests::trace_of({"dflash"}, {tests::launch_of("dflash", 0, {request})}));
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  for (const auto& sentence : sentences)
    if (sentence.find(part) != std::string::npos) return true;
  return false;
}

TEST(contradictions, a_sound_request_has_none) {
  EXPECT_TRUE(found_in(good_request()).empty());
  EXPECT_TRUE(
      found_in(RequestBuilder("p").replayed(10, 3, 1).draft_cut(1, 3, 3, 2).build()).empty());
}

TEST(contradictions, a_lost_pass_is_named_with_arm_class_prompt_and_launch) {
  auto request = good_request();
  request.passes.pop_back();
  const auto found = found_in(request);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0],
            "arm dflash, class code, prompt p1, launch 0: residual_passes is -1: 2 passes were "
            "counted, the tokens account for 3");
}

TEST(contradictions, accepted_tokens_that_passes_and_tokens_count_apart) {
  auto request = good_request();
  request.emissions[2].accepted = 0;
  request.emissions[2].tokens.pop_back();
  EXPECT_TRUE(says(found_in(request), "accepted is 3 in the tokens and 4 in the passes"));
}

TEST(contradictions, a_pass_that_accepts_or_tests_more_than_it_offered) {
  auto accepted = RequestBuilder("p").draft(10, 2, 3).build();
  const auto found = found_in(accepted);
  EXPECT_TRUE(says(found, "accepted 3 exceeds offered 2"));
  EXPECT_TRUE(says(found, "draft position 3 was offered 0, reached 0 and accepted 1"));
  auto tested = good_request();
  tested.passes[1].tested = 4;
  EXPECT_TRUE(says(found_in(tested), "tested 7 exceeds offered 6"));
}

TEST(contradictions, a_pass_that_accepts_more_than_was_tested) {
  auto request = good_request();
  request.passes[0].tested = 0;
  EXPECT_TRUE(says(found_in(request), "accepted_in_passes 4 exceeds tested 2"));
}

TEST(contradictions, drafts_that_nobody_made) {
  auto attempts = good_request();
  attempts.passes[0].attempts = 0;
  EXPECT_TRUE(says(found_in(attempts), "passes_speculative 2 exceeds attempts 1"));
  auto generated = good_request();
  generated.passes[0].generated = 1;
  EXPECT_TRUE(says(found_in(generated), "offered 6 exceeds generated 4"));
}

TEST(contradictions, a_pass_out_of_place_and_a_plain_pass_with_a_draft) {
  auto place = good_request();
  place.passes[1].index = 5;
  EXPECT_TRUE(says(found_in(place), "pass 5 is recorded in place 1"));
  auto plain = good_request();
  plain.passes[2].offered = 2;
  EXPECT_TRUE(says(found_in(plain), "pass 2 carries 2 draft tokens and is not speculative"));
}

TEST(contradictions, a_done_request_that_cannot_be_counted) {
  auto request = good_request();
  request.emissions.clear();
  EXPECT_TRUE(says(found_in(request), "ended as done and has no token"));
  request.outcome.kind = trace::OutcomeKind::crashed;
  EXPECT_TRUE(found_in(request).empty());
}

TEST(contradictions, warm_up_is_not_looked_at) {
  auto request = good_request();
  request.passes.pop_back();
  request.warm_up = true;
  EXPECT_TRUE(found_in(request).empty());
}

TEST(contradictions, a_launch_of_an_arm_that_the_run_does_not_have) {
  const auto found =
      find_contradictions(tests::trace_of({"plain"}, {tests::launch_of("mtp", 0, {})}));
  EXPECT_EQ(found,
            (std::vector<std::string>{"launch 0 is of arm mtp, which the run does not have"}));
}

TEST(contradictions, phases_that_take_longer_than_their_pass) {
  metrics::ClassSummary summary;
  summary.workload_class = "code";
  EXPECT_EQ(metrics::find_phase_contradiction("mtp", summary), "");
  summary.phases.emplace();
  EXPECT_EQ(metrics::find_phase_contradiction("mtp", summary), "");
  summary.phases->other_s = -0.002;
  EXPECT_EQ(metrics::find_phase_contradiction("mtp", summary),
            "arm mtp, class code: the phases of a pass take 0.002 s longer than the whole pass");
}

}  // namespace
