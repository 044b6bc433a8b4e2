#include "document/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/sample_survey.hpp"

namespace paceline::document {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ToProbe, GivesBestMedianAndMeanWithTheIntervalOfStudentsT) {
  const auto probe = to_probe(support::sample_survey(), 1720);
  EXPECT_EQ(probe.age_s, 720);
  const auto& rates = probe.bandwidth.at(0).bytes_per_s.value.value();
  EXPECT_EQ(rates.best, 41e9);
  EXPECT_EQ(rates.median, 40e9);
  const double mean = (std::log(39e9) + std::log(40e9) + std::log(41e9)) / 3;
  EXPECT_NEAR(rates.mean.value.value(), std::exp(mean), 1e3);
  double squares = 0;
  for (const double sample : {39e9, 40e9, 41e9}) squares += std::pow(std::log(sample) - mean, 2);
  const double half = 4.302652730 * std::sqrt(squares / 2 / 3);  // t of 2 degrees at 97.5 %
  EXPECT_NEAR(rates.mean.low.value(), std::exp(mean - half), 1e4);
  EXPECT_NEAR(rates.mean.high.value(), std::exp(mean + half), 1e4);
  EXPECT_EQ(rates.mean.level, "95 % over repeats in one process");
  EXPECT_EQ(probe.bandwidth.at(0).huge_share.value, 1.0);
  EXPECT_EQ(probe.bandwidth.at(0).where, "machine");
}

TEST(ToProbe, NamesNodesAndKeepsTheReasonOfWhatWasNotMeasured) {
  auto survey = support::sample_survey();
  survey.bandwidth[0].node = 1;
  survey.bandwidth[0].bytes_per_s.clear();
  survey.bandwidth[0].reason = "no memory";
  survey.bandwidth[0].huge_bytes.reset();
  survey.gather.clear();
  survey.gather_reason = "too little memory";
  const auto probe = to_probe(survey, 1720);
  EXPECT_EQ(probe.bandwidth[0].where, "node 1");
  EXPECT_FALSE(probe.bandwidth[0].bytes_per_s.value);
  EXPECT_EQ(probe.bandwidth[0].bytes_per_s.reason, "no memory");
  EXPECT_FALSE(probe.bandwidth[0].huge_share.value);
  EXPECT_EQ(probe.gather.reason, "too little memory");
  EXPECT_EQ(probe.devices.value->at(1).read_bytes_per_s.reason, "the device is busy");
}

TEST(ToProbe, GivesRowsTheirLeastTimeAndTheirBandwidth) {
  const auto row = to_probe(support::sample_survey(), 1720).gather.value.value().at(4);
  EXPECT_EQ(row.row_bytes, 4096u);
  EXPECT_DOUBLE_EQ(row.ns_per_row, 400);
  EXPECT_DOUBLE_EQ(row.ns_per_row_median, 440);
  EXPECT_DOUBLE_EQ(row.bytes_per_s, 10.24e9) << "4096 bytes in 400 ns";
}

TEST(Findings, SayWhatTheBestRepeatsSayByTheirRules) {
  const auto says = findings(support::sample_survey());
  EXPECT_THAT(says, Contains(HasSubstr("95 % of the best bandwidth (51.0 GB/s) at 2 threads")))
      << "50 of 51";
  EXPECT_THAT(says, Contains(HasSubstr("takes 100 ns when each names the next and 10.0 ns of 16 at "
                                       "once, 10.0 times less")));
  EXPECT_THAT(says, Contains(HasSubstr("reach 16 % of the bandwidth of one reading thread")))
      << "6.4 of 41 GB/s";
  EXPECT_THAT(says, Contains(HasSubstr("makes rows of 64 bytes, 16 at once, from a table of 1024 "
                                       "MiB 2.5 times as slow on small pages")));
  EXPECT_THAT(says, Contains(HasSubstr("costs nothing to notice: rows of 64 bytes, each naming the "
                                       "next, from a table of 1024 MiB take 1.05 times")));
  EXPECT_THAT(
      says,
      Contains(HasSubstr("costs time: a row of 4096 bytes on two small pages takes 1.25 times")));
}

TEST(Findings, SayNothingOfTranslationWhereTheSystemGaveNoHugePages) {
  auto survey = support::sample_survey();
  for (auto& figure : survey.gather)
    if (figure.pages == machine::Pages::huge) figure.huge_bytes = 1u << 29;
  EXPECT_THAT(findings(survey), Contains(HasSubstr("cannot be told: the system gave huge pages for "
                                                   "50 % of it")));
  EXPECT_THAT(findings(survey), Not(Contains(HasSubstr("as slow on small pages"))));
  for (auto& figure : survey.gather) figure.huge_bytes.reset();
  EXPECT_THAT(findings(survey), Contains(HasSubstr("does not say whether it gave huge pages")));
}

TEST(Findings, LookAtTheLargestTableAlone) {
  auto survey = support::sample_survey();
  auto cached = support::sample_gather(64, true, machine::Pages::huge, 4);
  cached.table_bytes = 1u << 20;
  survey.gather.insert(survey.gather.begin(), cached);
  survey.gather.push_back(cached);
  EXPECT_THAT(findings(survey), Contains(HasSubstr("takes 100 ns when each names the next")));
}

TEST(Findings, SayNothingOfWhatWasNotMeasured) {
  machine::Survey survey;
  EXPECT_TRUE(findings(survey).empty());
  survey.bandwidth = {support::sample_reads(1, machine::Pages::huge, {})};
  EXPECT_TRUE(findings(survey).empty());
}

}  // namespace
}  // namespace paceline::document
