#include "cli/depth_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DepthSettings asked(std::vector<std::string> depths) {
  DepthSettings settings;
  settings.depths = std::move(depths);
  return settings;
}

workload::Prompt prompt(const std::string& id, const std::string& text) {
  workload::Prompt prompt;
  prompt.id = id;
  prompt.workload_class = "code";
  prompt.text = text;
  return prompt;
}

TEST(DepthOptions, AreOneDepthWithoutTextUnlessAskedFor) {
  EXPECT_FALSE(DepthSettings().any());
  EXPECT_THAT(read_depths({}, 4096, 128).value(), ElementsAre(0));
}

TEST(DepthOptions, AreSortedAndEachOnce) {
  EXPECT_THAT(read_depths(asked({"16k", "0", "4k", "16384"}), 4096, 128).value(),
              ElementsAre(0, 4096, 16384));
  EXPECT_FALSE(read_depths(asked({"4k", "deep"}), 4096, 128));
}

TEST(DepthOptions, GoToTheEndOfTheContextWithRoomForPromptsAndOutputs) {
  DepthSettings settings;
  settings.to_the_end = true;
  EXPECT_THAT(read_depths(settings, 32768, 128).value(), ElementsAre(0, 4096, 16384, 31616));
  EXPECT_THAT(read_depths(settings, 4096, 128).value(), ElementsAre(0, 2944));
  EXPECT_FALSE(read_depths(settings, 1152, 128));
  settings.depths = {"1k"};
  EXPECT_THAT(read_depths(settings, 32768, 128).value(), ElementsAre(1024));
}

TEST(DepthOptions, TextToFillWithIsRefusedWhereNothingIsFilled) {
  DepthSettings settings;
  settings.fill_text = "some.txt";
  EXPECT_TRUE(settings.any());
  EXPECT_FALSE(read_depths(settings, 4096, 128));
}

TEST(DepthOptions, TextIsThatOfPromptsThatAreNotMeasured) {
  study::RunOptions run;
  run.depths = {0, 64};
  run.prompts.measured = {prompt("a", "measured")};
  ASSERT_TRUE(choose_fill({}, {prompt("a", "measured"), prompt("b", "other")}, run));
  EXPECT_THAT(run.fill_text, HasSubstr("other"));
  EXPECT_EQ(run.fill_text.find("measured"), std::string::npos);
  EXPECT_GE(run.fill_text.size(), 64u * 8);
  ASSERT_EQ(run.workload_notes.size(), 1u);
  EXPECT_THAT(run.workload_notes[0], HasSubstr("over and over"));
}

TEST(DepthOptions, TextIsTheUsersOwnWhereOneIsGiven) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() / "text.txt";
  ASSERT_TRUE(util::write_file(path, std::string(1000, 'x')));
  DepthSettings settings = asked({"64"});
  settings.fill_text = path;
  study::RunOptions run;
  run.depths = {64};
  ASSERT_TRUE(choose_fill(settings, {prompt("b", "other")}, run));
  EXPECT_EQ(run.fill_text, std::string(1000, 'x'));
  EXPECT_EQ(run.workload_notes.at(0).find("over and over"), std::string::npos);
  ASSERT_TRUE(util::write_file(path, ""));
  EXPECT_FALSE(choose_fill(settings, {}, run));
}

}  // namespace
}  // namespace paceline::cli
