#include "machine/probe/survey.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "support/sample_survey.hpp"
#include "util/json.hpp"

namespace paceline::machine {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t mib = 1u << 20;
constexpr std::uint64_t gib = 1u << 30;

std::vector<int> planned_threads(int cpus) {
  std::vector<int> counts;
  for (const auto& planned : plan_survey(Topology{}, cpus, 64 * gib).bandwidth)
    if (planned.setup.pages == Pages::small) counts.push_back(planned.setup.threads);
  return counts;
}

TEST(PlanSurvey, TakesEveryNumberOfThreadsOfASmallMachine) {
  EXPECT_EQ(planned_threads(1), (std::vector<int>{1}));
  EXPECT_EQ(planned_threads(5), (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST(PlanSurvey, TakesPowersOfTwoAndAllThreadsOfALargeOne) {
  EXPECT_EQ(planned_threads(96), (std::vector<int>{1, 2, 4, 8, 16, 32, 64, 96}));
}

TEST(PlanSurvey, ReadsEachNodeOfSeveralOnItsOwnProcessors) {
  Topology topology;
  topology.nodes = {{0, {0, 1}}, {1, {2, 3}}};
  std::vector<std::pair<int, std::vector<int>>> nodes;
  for (const auto& planned : plan_survey(topology, 4, 64 * gib).bandwidth)
    if (planned.node) nodes.emplace_back(*planned.node, planned.setup.cpus);
  EXPECT_EQ(nodes, (std::vector<std::pair<int, std::vector<int>>>{{0, {0, 1}}, {1, {2, 3}}}));
}

std::set<std::uint64_t> planned_tables(const Topology& topology, std::uint64_t available) {
  std::set<std::uint64_t> tables;
  for (const auto& planned : plan_survey(topology, 2, available).gather)
    tables.insert(planned.setup.table_bytes);
  return tables;
}

TEST(PlanSurvey, GathersFromTablesInEachCacheAndBeyondAndIn1GiB) {
  Topology topology;
  topology.l2_bytes = mib;
  topology.llc_bytes = topology.llc_each_bytes = 32 * mib;
  EXPECT_EQ(planned_tables(topology, 64 * gib),
            (std::set<std::uint64_t>{mib / 2, 16 * mib, 128 * mib, gib}));
  EXPECT_EQ(planned_tables(topology, 256 * mib),
            (std::set<std::uint64_t>{mib / 2, 16 * mib, 64 * mib}))
      << "never more than a quarter of the memory";
  EXPECT_EQ(planned_tables(Topology{}, 64 * gib), (std::set<std::uint64_t>{gib}));
  EXPECT_TRUE(planned_tables(topology, 1000).empty());
}

TEST(PlanSurvey, StaysUnderHalfAMinuteOnMachinesOfAnySize) {
  for (const int cpus : {1, 2, 16, 17, 256}) {
    Topology topology;
    topology.l2_bytes = mib;
    topology.llc_bytes = topology.llc_each_bytes = 32 * mib;
    EXPECT_LT(plan_survey(topology, cpus, 64 * gib).expected_s, 27) << "3 s are for the devices";
  }
}

TEST(TakeSurvey, BringsAFigureForEverythingPlannedAndSaysHowFarItIs) {
  SurveyPlan plan;
  plan.bandwidth = {{{}, {1, mib, Pages::huge, Access::read, {}}},
                    {3, {1, mib, Pages::huge, Access::read, {100'000}}}};
  plan.gather = {{Pages::small, {64, mib, 0, true}}, {Pages::huge, {256, mib, 0, false}}};
  std::vector<double> heard;
  const auto survey = take_survey(plan, [&](double done, const std::string&) {
    heard.push_back(done);
    return true;
  });
  ASSERT_TRUE(survey);
  ASSERT_EQ(survey->bandwidth.size(), 2u);
  EXPECT_EQ(survey->bandwidth[0].bytes, mib);
  EXPECT_GE(survey->bandwidth[0].bytes_per_s.size(), fewest_samples);
  EXPECT_EQ(survey->bandwidth[1].node, 3);
  EXPECT_TRUE(survey->bandwidth[1].bytes_per_s.empty());
  EXPECT_THAT(survey->bandwidth[1].reason, HasSubstr("bound")) << "there is no such processor";
  ASSERT_EQ(survey->gather.size(), 2u);
  EXPECT_EQ(survey->gather[0].row_bytes, 256u) << "huge pages come first";
  EXPECT_EQ(survey->gather[1].ns_per_row.size(), 5u);
  EXPECT_EQ(survey->gather[1].huge_bytes, 0u);
  EXPECT_EQ(heard.size(), 6u) << "a table for each kind of pages is a step, too";
  EXPECT_TRUE(std::is_sorted(heard.begin(), heard.end()));
}

TEST(TakeSurvey, StopsBetweenTwoMeasurements) {
  SurveyPlan plan;
  plan.bandwidth = {{{}, {1, mib, Pages::huge, Access::read, {}}},
                    {{}, {1, mib, Pages::huge, Access::read, {}}}};
  int asked = 0;
  EXPECT_FALSE(take_survey(plan, [&](double, const std::string&) { return asked++ == 0; }));
  EXPECT_EQ(asked, 2);
}

constexpr double later = 2000;

TEST(ParseSurvey, ReadsBackWhatWasWritten) {
  const Survey survey = support::sample_survey();
  const auto read = parse_survey(survey_text(survey), survey.key, later);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(survey_text(*read), survey_text(survey));
  EXPECT_EQ(read->bandwidth.at(1).pages, Pages::small);
  EXPECT_EQ(read->devices.at(1).reason, "the device is busy");
}

std::string refusal(const Survey& survey, SurveyKey key, double now_s = later) {
  const auto read = parse_survey(survey_text(survey), key, now_s);
  return read ? "" : read.error().message;
}

TEST(ParseSurvey, IsOfThisBootAndTheseProcessorsOnly) {
  const Survey survey = support::sample_survey();
  SurveyKey other = survey.key;
  other.boot_id = "another";
  EXPECT_THAT(refusal(survey, other), HasSubstr("before the machine's last start"));
  other = survey.key;
  other.cpus = 4;
  EXPECT_THAT(refusal(survey, other), HasSubstr("other processors"));
  other = survey.key;
  other.processor = "i486";
  EXPECT_THAT(refusal(survey, other), HasSubstr("other processors"));
  EXPECT_THAT(refusal(survey, survey.key, 999), HasSubstr("later than now"));
}

TEST(ParseSurvey, RefusesFiguresThatNoProbeCanHaveMeasured) {
  const auto refused = [](const std::function<void(Survey&)>& spoil) {
    Survey survey = support::sample_survey();
    spoil(survey);
    return refusal(survey, survey.key);
  };
  const auto impossible = HasSubstr("no probe can have measured");
  EXPECT_EQ(refused([](Survey&) {}), "");
  EXPECT_THAT(refused([](Survey& s) { s.bandwidth.clear(); }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.bandwidth[0].bytes_per_s[0] = 0; }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.bandwidth[0].bytes_per_s[0] = -1; }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.bandwidth[0].threads = 0; }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.bandwidth[0].bytes_per_s.clear(); }), impossible)
      << "neither samples nor a reason";
  EXPECT_THAT(refused([](Survey& s) { s.gather[0].ns_per_row.clear(); }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.gather[0].row_bytes = 1ULL << 31; }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.gather[0].buffer_bytes = 0; }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.gather.clear(); }), impossible) << "without a reason";
  EXPECT_THAT(refused([](Survey& s) { s.devices[0].upload_bytes_per_s.clear(); }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.devices[1].reason = ""; }), impossible);
  EXPECT_THAT(refused([](Survey& s) { s.took_s = -1; }), impossible);
}

TEST(ParseSurvey, RefusesAFileCutAtAnyByteAndTextOfAnyOtherKind) {
  const Survey survey = support::sample_survey();
  const std::string text = survey_text(survey);
  for (std::size_t size = 0; size + 2 < text.size(); ++size)
    ASSERT_FALSE(parse_survey(text.substr(0, size), survey.key, later)) << size;
  for (const char* other : {"", "[]", "null", "{}", "{\"key\":1}"})
    EXPECT_FALSE(parse_survey(other, survey.key, later)) << other;
}

TEST(SurveyKey, IsThatOfThisBoot) {
  const auto key = survey_key();
  ASSERT_TRUE(key) << "Linux has a boot id";
  EXPECT_EQ(key->boot_id.size(), 36u) << "a UUID without its line's end";
  EXPECT_GE(key->cpus, 1);
  EXPECT_GT(seconds_since_boot(), 0);
}

}  // namespace
}  // namespace paceline::machine
