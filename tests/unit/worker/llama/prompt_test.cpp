#include "worker/llama/prompt.hpp"

#include <gtest/gtest.h>

#include <string>

namespace paceline::worker {
namespace {

TEST(Prompt, FitsWhenPromptAndOutputAndOneMoreTokenFillTheContext) {
  const std::vector<std::int32_t> prompt(60, 1);
  EXPECT_TRUE(check_request(prompt, 39, 1, 100, 10).has_value());
  const auto refused = check_request(prompt, 40, 1, 100, 10);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "prompt of 60 tokens + 40 output tokens need 101 tokens of context and -c is 100: "
            "raise -c or shorten.");
}

TEST(Prompt, RefusesWhatCouldNotBeRepeatedOrRun) {
  EXPECT_FALSE(check_request({}, 1, 1, 100, 10).has_value());
  EXPECT_FALSE(check_request({1}, 0, 1, 100, 10).has_value());
  EXPECT_FALSE(check_request({10}, 1, 1, 100, 10).has_value());
  EXPECT_FALSE(check_request({-1}, 1, 1, 100, 10).has_value());
  EXPECT_FALSE(check_request({1}, 1, 4294967295u, 100, 10).has_value());
  EXPECT_TRUE(check_request({9}, 1, 4294967294u, 100, 10).has_value());
}

}  // namespace
}  // namespace paceline::worker
