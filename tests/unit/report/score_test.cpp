#include "report/score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

document::ScoreRow row(std::optional<int> depth, double chance) {
  document::ScoreRow made;
  made.arm = "plain";
  made.task = "recall";
  made.depth = depth;
  made.right = 3;
  made.score = {0.25, 0.1, 0.5, "95 % over questions", "Wilson", 12, ""};
  made.chance = chance;
  made.blind = document::known(0.05);
  return made;
}

TEST(ScoreReport, puts_each_score_beside_chance_and_what_a_blind_model_gets) {
  document::Score scored;
  scored.rows = {row(400, 0.015625)};
  scored.notes = {"plain was sampled"};
  const auto text = score(scored, {});
  EXPECT_THAT(text, HasSubstr("plain  recall    400   3/12  25.0 % [10.0-50.0]  1.56 %  5.00 %"));
  EXPECT_THAT(text, HasSubstr("Note: plain was sampled"));
}

TEST(ScoreReport, says_of_a_chance_too_small_to_show_that_it_is_none_of_zero) {
  document::Score scored;
  scored.rows = {row({}, 1e-9)};
  scored.rows[0].blind = document::not_known<double>("one question");
  const auto text = score(scored, {});
  EXPECT_THAT(text, HasSubstr("<0.01 %  unknown"));
}

TEST(ScoreReport, lets_no_text_reach_the_terminal_as_a_command) {
  document::Score scored;
  scored.rows = {row(400, 0.1)};
  scored.rows[0].task = "re\x1b[31mcall";
  EXPECT_THAT(score(scored, {}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace paceline::report
