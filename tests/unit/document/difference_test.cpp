#include "document/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/history.hpp"
#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Difference, of_a_study_and_itself_is_none) {
  auto other = support::sample_trace();
  other.header.trace_id = "another";
  other.header.created = "2027-01-01T00:00:00Z";
  for (auto& launch : other.launches) launch.facts->load_s = 9;
  const auto difference = to_difference(support::sample_trace(), support::sample_document(), other,
                                        support::sample_document());
  EXPECT_THAT(difference.unlike, IsEmpty());
  EXPECT_THAT(difference.only_in_one, IsEmpty());
  EXPECT_EQ(difference.figures.size(), 4u * 4u * 3u) << "arms x classes x figures";
}

TEST(Difference, names_settings_facts_and_files_that_are_not_the_same) {
  auto one = support::sample_trace();
  auto other = one;
  other.header.n_predict = 5;
  for (auto& launch : other.launches)
    if (launch.arm == "plain") launch.facts->cache_type_k = "q8_0";
  one.about.emplace();
  one.about->fingerprint["file x"] = "1 byte";
  const auto document = support::sample_document();
  auto slower = document;
  slower.arms.pop_back();
  slower.machine.kernel = known<std::string>("Linux 9");
  const auto difference = to_difference(one, document, other, slower);
  EXPECT_THAT(difference.unlike, ElementsAre(Field(&Unlike::place, "/engine/plain/cache_type_k"),
                                             Field(&Unlike::place, "/header/n_predict"),
                                             Field(&Unlike::place, "/machine/kernel"),
                                             Field(&Unlike::place, "/on/file x")));
  EXPECT_EQ(difference.unlike[1].one, "4");
  EXPECT_EQ(difference.unlike[1].other, "5");
  EXPECT_EQ(difference.unlike[3].other, "") << "the other study does not say";
  EXPECT_EQ(difference.only_in_one.size(), 4u) << "the classes of the arm that one lacks";
  const auto text = report::difference(difference, {});
  EXPECT_THAT(text, HasSubstr("Unpaired"));
  EXPECT_THAT(text, Not(HasSubstr("faster"))) << "no verdict";
}

TEST(Difference, has_one_place_for_an_arm_that_the_other_study_lacks) {
  const auto one = support::sample_trace();
  auto other = one;
  const std::string gone = other.header.arms[1].name;
  other.header.arms.erase(other.header.arms.begin() + 1);
  const auto document = support::sample_document();
  for (const bool swapped : {false, true})
    EXPECT_THAT(
        to_difference(swapped ? other : one, document, swapped ? one : other, document).unlike,
        ElementsAre(Field(&Unlike::place, "/header/arms/" + gone)));
}

TEST(HistoryReport, lets_nothing_that_a_trace_says_reach_the_terminal_as_it_is) {
  HistoryStudy study;
  study.id = study.workload = study.models = "\033[31mred";
  study.command = not_known<std::string>("its trace does not say");
  study.tags = {"\033[0m"};
  History history;
  history.studies = {study};
  const auto text = report::history(history, {});
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, HasSubstr("unknown"));
  HistoryRequest request;
  request.arm = request.prompt_id = request.workload_class = "\033[31m";
  request.output_tokens = not_known<std::int64_t>("it was not counted");
  request.decode_s = not_known<double>("it was not counted");
  request.superseded = true;
  EXPECT_THAT(report::requests({request}, {}), Not(HasSubstr("\033")));
  EXPECT_THAT(report::requests({request}, {}), HasSubstr("superseded"));
}

}  // namespace
}  // namespace paceline::document
