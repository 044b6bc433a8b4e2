#include "cli/load_options.hpp"

#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

ServerSettings managed() {
  ServerSettings settings;
  settings.server_bin = "llama-server";
  return settings;
}

study::LoadOptions parsed(const std::string& arguments) {
  CLI::App app;
  study::LoadOptions loads;
  add_load_options(app, loads);
  app.parse(arguments);
  return loads;
}

std::string refusal(const study::LoadOptions& loads, const ServerSettings& settings) {
  const auto checked = check_load_options(loads, settings);
  return checked ? "" : checked.error().message;
}

TEST(LoadOptions, are_lists_of_levels_and_rates) {
  const auto loads = parsed("--concurrency 1,2,4 --rate 0.5,2 --requests 30");
  EXPECT_EQ(loads.levels, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(loads.rates, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(loads.requests, 30);
  EXPECT_FALSE(parsed("").any());
}

TEST(LoadOptions, refuse_what_is_no_level_and_no_rate) {
  EXPECT_THROW(parsed("--concurrency 0"), CLI::ParseError);
  EXPECT_THROW(parsed("--concurrency two"), CLI::ParseError);
  EXPECT_THROW(parsed("--rate -1"), CLI::ParseError);
  EXPECT_THROW(parsed("--rate 0"), CLI::ParseError);
}

TEST(LoadOptions, need_a_server) {
  EXPECT_NE(refusal({{2}, {}, {}}, {}).find("embedded engine runs one request at a time"),
            std::string::npos);
  EXPECT_EQ(refusal({{2}, {}, {}}, managed()), "");
  EXPECT_EQ(refusal({}, {}), "");
}

TEST(LoadOptions, need_requests_enough_to_reach_the_highest_level) {
  EXPECT_NE(refusal({{2, 8}, {}, 7}, managed()).find("7 requests cannot keep 8 in flight"),
            std::string::npos);
  EXPECT_EQ(refusal({{2, 8}, {}, 8}, managed()), "");
  EXPECT_EQ(refusal({{}, {3}, 1}, managed()), "");
}

TEST(LoadOptions, refuse_requests_of_no_load_and_a_load_twice) {
  EXPECT_NE(refusal({{}, {}, 7}, managed()).find("add --concurrency or --rate"), std::string::npos);
  EXPECT_NE(refusal({{2, 2}, {}, {}}, managed()).find("twice"), std::string::npos);
  EXPECT_NE(refusal({{}, {2, 2}, {}}, managed()).find("twice"), std::string::npos);
}

TEST(LoadOptions, give_a_started_server_as_many_slots_as_the_highest_level) {
  EXPECT_EQ(slots_for({{2, 8, 4}, {}, {}}), 8);
  EXPECT_EQ(slots_for({{}, {3}, {}}), 1);
}

TEST(LoadOptions, are_told_in_the_plan) {
  EXPECT_TRUE(describe_loads({}, 6).empty());
  EXPECT_EQ(describe_loads({{1, 8}, {2.5}, {}}, 6),
            (std::vector<std::string>{
                "loads: in every launch also 1 (6 requests), 8 (16 requests) at once",
                "loads: in every launch also 2.5 requests a second, 6 each"}));
}

}  // namespace
}  // namespace paceline::cli
