#include "document/score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline::document {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

workload::Prompt prompt(const std::string& id, const std::string& task, const std::string& answer,
                        double chance, std::optional<int> depth = {}) {
  workload::Prompt made;
  made.id = id;
  made.question = workload::Question{task, answer, std::nullopt, chance, depth};
  return made;
}

trace::Request request(const std::string& prompt_id, const std::string& text) {
  trace::Request made;
  made.prompt_id = prompt_id;
  made.text = text;
  return made;
}

trace::Trace greedy_run(std::vector<trace::Request> requests) {
  trace::Trace run;
  run.header.rounds = 1;
  run.header.arms.resize(1);
  run.header.arms[0].name = "plain";
  run.header.arms[0].sampling.temp = 0;
  run.launches.resize(1);
  run.launches[0].arm = "plain";
  run.launches[0].requests = std::move(requests);
  return run;
}

TEST(Score, leaves_out_what_was_generated_with_forced_acceptance) {
  trace::Trace run = greedy_run({request("a", " yes")});
  run.header.arms[0].setup.forced = trace::ForcedAcceptance{};
  const Score score = to_score(run, {prompt("a", "words", "yes", 0.1)});
  EXPECT_TRUE(score.rows.empty());
  EXPECT_THAT(score.notes, ElementsAre(HasSubstr("forced")));
}

TEST(Score, counts_right_answers_by_task_and_depth_beside_chance) {
  const std::vector<workload::Prompt> prompts = {
      prompt("a", "recall", "rain", 0.25, 32), prompt("b", "recall", "lamp", 0.25, 32),
      prompt("c", "recall", "sand", 0.5, 400), prompt("d", "copy", "x", 0.1),
      prompt("e", "copy", "x", 0.3),           prompt("f", "copy", "y", 0.2)};
  const auto score =
      to_score(greedy_run({request("a", " rain\n"), request("b", "rain"), request("c", "sand"),
                           request("d", "x\nmore"), request("e", "y"), request("f", "y")}),
               prompts);
  ASSERT_EQ(score.rows.size(), 3u);
  const ScoreRow& copy = score.rows[0];
  EXPECT_EQ(copy.task, "copy");
  EXPECT_FALSE(copy.depth);
  EXPECT_EQ(copy.right, 2);
  EXPECT_EQ(copy.score.n, 3);
  EXPECT_NEAR(copy.chance, 0.2, 1e-12);
  EXPECT_NEAR(*copy.blind.value, 2.0 / 6, 1e-12) << "of six pairs d-e and e-d have one answer";
  const ScoreRow& near = score.rows[1];
  EXPECT_EQ(near.depth, 32);
  EXPECT_EQ(near.right, 1);
  EXPECT_EQ(near.score.n, 2);
  EXPECT_DOUBLE_EQ(*near.blind.value, 0);
  const ScoreRow& far = score.rows[2];
  EXPECT_EQ(far.depth, 400);
  EXPECT_EQ(far.right, 1);
  EXPECT_FALSE(far.blind.value) << "one question has no other's answer";
  EXPECT_TRUE(score.notes.empty());
}

TEST(Score, takes_the_first_measured_output_that_ran_to_its_end) {
  auto warm_up = request("a", "right");
  warm_up.warm_up = true;
  auto crashed = request("a", "right");
  crashed.outcome.kind = trace::OutcomeKind::crashed;
  const auto score =
      to_score(greedy_run({warm_up, crashed, request("a", "wrong"), request("a", "right")}),
               {prompt("a", "t", "right", 0.5)});
  ASSERT_EQ(score.rows.size(), 1u);
  EXPECT_EQ(score.rows[0].right, 0);
  EXPECT_EQ(score.rows[0].score.n, 1);
}

TEST(Score, says_what_bears_on_it) {
  auto run = greedy_run({request("a", "x"), request("unknown", "x"), request("plain", "x")});
  run.header.arms[0].sampling.temp = 0.7;
  run.interrupted = true;
  workload::Prompt without;
  without.id = "plain";
  const auto score = to_score(run, {prompt("a", "t", "x", 0.5), without});
  EXPECT_THAT(score.notes,
              ElementsAre(HasSubstr("2 prompts"), HasSubstr("sampled"), HasSubstr("interrupted")));
}

TEST(Score, of_a_run_without_questions_has_no_rows) {
  EXPECT_TRUE(to_score(greedy_run({request("a", "x")}), {}).rows.empty());
}

}  // namespace
}  // namespace paceline::document
