#include "report/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/sample_run.hpp"

namespace paceline::report {
namespace {

document::Quantity quantity(double value) {
  return {value, value * 0.95, value * 1.06, "95 % over launches", "t", 3, ""};
}

document::Load load(const std::string& arm, int level, double tokens_per_s) {
  document::Load load;
  load.arm = arm;
  load.loop = "closed";
  load.concurrency = document::known(level);
  load.launches = 3;
  load.requests_planned = load.requests_done = 24;
  load.tokens_per_s = load.cell_tokens_per_s = quantity(tokens_per_s);
  load.forwards_per_s = quantity(50);
  load.sequences_per_forward = quantity(1.6);
  load.tokens_per_sequence_pass = quantity(1.5);
  load.experienced_passes_per_s = quantity(45);
  load.ttft_s = {quantity(0.12), quantity(0.2), document::no_quantity("too few: 24 values")};
  load.inter_burst_s = {quantity(0.02), quantity(0.05)};
  load.client = {document::known(0.013), document::known(0.0001), document::known(0.0008),
                 document::known(0.002), document::not_known<std::string>("the client kept up")};
  return load;
}

document::Document loaded_document() {
  auto document = support::sample_document();
  document.loads = {load("plain", 1, 80), load("plain", 4, 200), load("mtp-n3", 1, 110),
                    load("mtp-n3", 4, 180)};
  document.loads[3].requests_done = 23;
  document.loads[3].requests_failed = 1;
  document.crossover_concurrency = {{"mtp-n3",
                                     document::known(4),
                                     "stops paying at 4; pays at 1",
                                     {{1, quantity(1.375), "pays"}, {4, quantity(0.9), "stops"}}}};
  return document;
}

bool has_row(const std::string& text, const std::string& row) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::string squeezed;
    for (const char one : line)
      if (one != ' ' || (!squeezed.empty() && squeezed.back() != ' ')) squeezed += one;
    if (squeezed == row) return true;
  }
  return false;
}

constexpr Style wide = {false, 160};

TEST(LoadTables, are_none_where_one_request_ran_at_a_time) {
  Notes notes;
  EXPECT_EQ(load_tables(support::sample_document(), wide, notes), "");
}

TEST(LoadTables, put_an_arm_against_plain_at_each_level) {
  Notes notes;
  const std::string text = load_tables(loaded_document(), wide, notes);
  EXPECT_TRUE(has_row(text, "plain 1 80.0 [76.0-84.8] 45.0 [42.8-47.7] 24 of 24")) << text;
  EXPECT_TRUE(has_row(text, "4 180 [171-191] 0.90x ±0.05 45.0 [42.8-47.7] 23 of 24, 1 failed"))
      << text;
  EXPECT_NE(text.find("crossover of mtp-n3: stops paying at 4; pays at 1"), std::string::npos);
}

TEST(LoadTables, take_tokens_per_second_apart) {
  Notes notes;
  const std::string text = load_tables(loaded_document(), wide, notes);
  EXPECT_TRUE(has_row(text, "arm load tok/s = forwards/s x sequences/forward x tok/sequence pass"));
  EXPECT_TRUE(
      has_row(text, "mtp-n3 1 110 [104-117] 50.0 [47.5-53.0] 1.60 [1.52-1.70] 1.50 [1.42-1.59]"))
      << text;
}

TEST(LoadTables, show_latencies_and_the_client_with_the_reasons_below) {
  Notes notes;
  const std::string text = load_tables(loaded_document(), wide, notes);
  EXPECT_TRUE(has_row(text, "plain 1 120 200 - (1) 20.0 50.0 1.30 0.80")) << text;
  ASSERT_EQ(notes.reasons().size(), 1u);
  EXPECT_EQ(notes.reasons()[0], "too few: 24 values");
}

TEST(LoadTables, leave_intervals_out_where_the_terminal_is_narrow) {
  Notes notes;
  const std::string text = load_tables(loaded_document(), {false, 79}, notes);
  EXPECT_TRUE(has_row(text, "plain 1 80.0 45.0 24 of 24")) << text;
}

}  // namespace
}  // namespace paceline::report
