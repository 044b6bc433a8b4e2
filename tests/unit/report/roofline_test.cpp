#include "report/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace paceline::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A mixture of 4 layers that uses 2 of 8 experts, 1 kB in all, beside a feed-forward of 100 bytes.
model::ReadFacts mixture() {
  model::ReadFacts reads;
  reads.weights = {{"feed-forward", 100, 50}};
  reads.rows = {{"n-gram table", 16, 10, 20, 32000, 0}};
  reads.experts = model::ExpertsRead{4, 8, 2, 1000, 500};
  return reads;
}

document::RooflineQuestion question() {
  document::RooflineQuestion question;
  question.target.path = "folder/m\x1b[31m.gguf";
  question.target.architecture = "qwen4exp";
  question.target.parameters = 20550;
  question.target.reads = mixture();
  question.widths = {1, 2};
  return question;
}

const document::RooflineClass& class_named(const document::RooflinePass& pass,
                                           const std::string& name) {
  return *std::find_if(pass.classes.begin(), pass.classes.end(),
                       [&](const auto& one) { return one.name == name; });
}

TEST(Roofline, CountsTheParametersOfATokenAndWhatIsBesideThem) {
  const auto made = document::to_roofline(question()).value();
  // 50 of the feed-forward, 16 rows of 20, a quarter of the experts' 500.
  EXPECT_EQ(made.token.parameters, 50 + 16 * 20 + 125);
  EXPECT_EQ(made.token.weight_bytes, 100 + 16 * 10 + 250);
  EXPECT_EQ(made.token.bytes_at_4_bits, 495.0 / 2);
  EXPECT_EQ(made.token.parameters_beside, 20550 - 495);
}

TEST(Roofline, CeilingIsTheBandwidthOverTheBytes) {
  auto asked = question();
  EXPECT_THAT(document::to_roofline(asked)->passes[0].ceiling_per_s.reason,
              HasSubstr("--bandwidth"));
  asked.bandwidth = 5100;
  const auto made = document::to_roofline(asked).value();
  ASSERT_EQ(made.passes.size(), 2u);
  EXPECT_EQ(made.passes[0].bytes, 100 + 160 + 250);
  EXPECT_EQ(made.passes[0].ceiling_per_s.value, 10);
  // Two tokens leave an expert out with (3/4)^2 under uniform routing.
  EXPECT_EQ(made.passes[1].bytes, 100 + 320 + 1000 * 7.0 / 16);
  EXPECT_EQ(made.passes[1].uniform_experts.value, 3.5);
  EXPECT_TRUE(class_named(made.passes[1], "experts").is_model);
  EXPECT_THAT(report::roofline(made, {}), HasSubstr("~438 B"));
}

TEST(Roofline, WithLayersOnADeviceTheCeilingIsThatOfOneAfterTheOther) {
  auto asked = question();
  asked.widths = {1};
  const auto without = document::to_roofline(asked).value();
  EXPECT_THAT(without.passes[0].device_bytes.reason, HasSubstr("-ngl"));
  EXPECT_THAT(report::roofline(without, {}), Not(HasSubstr("on the ")));
  asked.target.layers = 4;
  asked.offload = document::Offload{3, {}, {}};
  asked.offload->reads.cpu.target.rows = mixture().rows;
  asked.offload->reads.device.target.weights = mixture().weights;
  asked.offload->reads.device.target.experts = mixture().experts;
  EXPECT_THAT(document::to_roofline(asked)->passes[0].ceiling_per_s.reason,
              HasSubstr("--bandwidth"));
  asked.bandwidth = 80;
  EXPECT_THAT(document::to_roofline(asked)->passes[0].ceiling_per_s.reason,
              HasSubstr("--device-bandwidth"));
  asked.offload->bandwidth = 175;
  const auto made = document::to_roofline(asked).value();
  EXPECT_EQ(made.passes[0].cpu_bytes.value, 160);
  EXPECT_EQ(made.passes[0].device_bytes.value, 100 + 250);
  EXPECT_EQ(made.passes[0].ceiling_per_s.value, 0.25) << "two seconds and two";
  const std::string text = report::roofline(made, {.colour = false, .width = 500});
  EXPECT_THAT(text, HasSubstr("-ngl 3: the output and the last 2 of 4 blocks"));
  EXPECT_THAT(text, HasSubstr("bandwidth: 175 B a second, as given"));
  EXPECT_THAT(text, HasSubstr("on the device       350 B"));
  EXPECT_THAT(text, HasSubstr("on the CPU          160 B"));
}

TEST(Roofline, ASideThatIsNotReadNeedsNoBandwidth) {
  auto asked = question();
  asked.widths = {1};
  asked.bandwidth = 5100;
  asked.offload = document::Offload{0, {{mixture(), {}}, {}}, {}};
  EXPECT_EQ(document::to_roofline(asked)->passes[0].ceiling_per_s.value, 10);
}

TEST(Roofline, SaysNothingOfWhereADrafterOfItsOwnFileLies) {
  auto asked = question();
  asked.widths = {1};
  asked.draft_tokens = 2;
  asked.bandwidth = 5100;
  asked.drafter = asked.target;
  asked.offload = document::Offload{0, {{mixture(), {}}, {}}, {}};
  const auto made = document::to_roofline(asked).value();
  for (const auto& pass : made.passes) {
    EXPECT_EQ(pass.cpu_bytes.value.has_value(), pass.part == "target");
    EXPECT_EQ(pass.ceiling_per_s.value.has_value(), pass.part == "target");
  }
}

TEST(Roofline, HoldsTheFormulaForTheExpertsThatWereReadAgainstAllThatWasRead) {
  auto asked = question();
  trace::ObservedPass pass;
  pass.width = 2;
  pass.forwards = 1;
  pass.classes = {{"feed-forward", 100}, {"n-gram table", 320}, {"experts", 375}, {"other", 8}};
  pass.experts_per_layer = 3;
  trace::Observation seen;
  seen.passes = {pass};
  seen.tables = {{"n-gram table", 10, 32000, 2, 32, 30, 1, 15.5}};
  seen.experts = trace::ObservedExperts{4, 8, 16, {0.5, 0.25, 0.125, 0.125, 0, 0, 0, 0}};
  asked.observation = seen;
  const auto made = document::to_roofline(asked).value();
  ASSERT_EQ(made.passes.size(), 1u);
  const auto& shown = made.passes[0];
  EXPECT_EQ(class_named(shown, "experts").bytes.value, 375) << "3 of 8 experts";
  EXPECT_FALSE(class_named(shown, "experts").is_model);
  EXPECT_EQ(class_named(shown, "other").bytes.value, 0) << "read, and in no rule";
  EXPECT_EQ(shown.bytes, 795);
  EXPECT_EQ(shown.observed.value, 803);
  EXPECT_DOUBLE_EQ(*shown.difference.value, 8.0 / 795);
  EXPECT_EQ(shown.uniform_bytes.value, 100 + 320 + 437.5);
  EXPECT_DOUBLE_EQ(*made.tables.value->at(0).same_page_share.value, 1.0 / 31);
  const std::string text = report::roofline(made, {.colour = false, .width = 500});
  EXPECT_THAT(text, HasSubstr("+1.01 %"));
  EXPECT_THAT(text, HasSubstr("32 rows of 10 B for 2 tokens, 30 of them different"));
  EXPECT_THAT(text, HasSubstr("15.5 pages of 4096 bytes for a token, 3.23 % of rows"));
  EXPECT_THAT(text, HasSubstr("has 50.0 % of its picks, 1 experts have half"));
  EXPECT_THAT(text, Not(HasSubstr("~")));
}

TEST(Roofline, SaysWhyBytesAreNotKnownAndPrintsNothingATerminalObeys) {
  auto asked = question();
  EXPECT_THAT(report::roofline(document::to_roofline(asked).value(), {}), Not(HasSubstr("\x1b")));
  asked.target.reads.reset();
  asked.target.reads_unknown = "nothing is known of 'mamba'";
  const auto refused = document::to_roofline(asked);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'mamba'"));
  asked = question();
  asked.predicts = true;
  EXPECT_FALSE(document::to_roofline(asked));
}

}  // namespace
}  // namespace paceline::report
