#include "cli/sizes.hpp"

#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

TEST(Sizes, AreReadWithDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_size("500MB").value(), 500000000u);
  EXPECT_EQ(parse_size("4GB").value(), 4000000000u);
  EXPECT_EQ(parse_size("4GiB").value(), 4294967296u);
  EXPECT_EQ(parse_size("1.5KiB").value(), 1536u);
  EXPECT_EQ(parse_size("77").value(), 77u);
}

TEST(Sizes, AreRefusedWhereTheyAreNone) {
  for (const char* text : {"", "GB", "4 GB", "4gb", "-1MB", "0", "1e300GB", "nan"})
    EXPECT_FALSE(parse_size(text)) << text;
}

TEST(Sizes, OfTokensAreReadInSteps1024) {
  EXPECT_EQ(parse_token_count("0").value(), 0);
  EXPECT_EQ(parse_token_count("4096").value(), 4096);
  EXPECT_EQ(parse_token_count("16k").value(), 16384);
  EXPECT_EQ(parse_token_count("256K").value(), 262144);
  for (const char* text : {"", "k", "-1", "4 k", "1.5k", "4kk", "4M", "99999999", "99999k"})
    EXPECT_FALSE(parse_token_count(text)) << text;
}

}  // namespace
}  // namespace paceline::cli
