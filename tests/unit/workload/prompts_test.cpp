#include "workload/prompts.hpp"

#include <gtest/gtest.h>

#include <set>

namespace paceline::workload {
namespace {

TEST(Prompts, are_read_one_a_line_with_blank_lines_between) {
  const auto prompts = read_prompts(
      "{\"id\": \"a\", \"class\": \"code\", \"text\": \"int\"}\n\n"
      "{\"id\": \"b\", \"class\": \"code\", \"text\": \"x\\ny\", \"family\": \"f\"}",
      "mine.jsonl");
  ASSERT_TRUE(prompts) << prompts.error().message;
  ASSERT_EQ(prompts->size(), 2u);
  EXPECT_EQ(prompts->at(0).family, "a") << "a prompt without a family is its own";
  EXPECT_EQ(prompts->at(1).family, "f");
  EXPECT_EQ(prompts->at(1).text, "x\ny");
}

TEST(Prompts, that_make_no_sense_are_named_by_file_and_line) {
  const std::string good = "{\"id\": \"a\", \"class\": \"c\", \"text\": \"t\"}\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", "no prompts"},
      {good + "not json", "line 2"},
      {good + "{\"id\": \"b\", \"class\": \"c\"}", "\"text\" is missing"},
      {good + "{\"id\": \"b\", \"class\": \"c\", \"text\": \"\"}", "empty"},
      {good + "{\"id\": \"b\", \"class\": 5, \"text\": \"t\"}", "a string was expected"},
      {good + good, "used before"},
      {"[1]", "missing"},
  };
  for (const auto& [text, expected] : cases) {
    const auto prompts = read_prompts(text, "mine.jsonl");
    ASSERT_FALSE(prompts) << text;
    EXPECT_NE(prompts.error().message.find(expected), std::string::npos) << prompts.error().message;
    EXPECT_NE(prompts.error().message.find("mine.jsonl"), std::string::npos);
  }
}

TEST(Prompts, of_the_lab_are_24_of_each_class) {
  const auto prompts = load_workload("lab");
  ASSERT_TRUE(prompts) << prompts.error().message;
  for (const char* name : {"prose", "c", "python", "json"})
    EXPECT_EQ(std::count_if(prompts->begin(), prompts->end(),
                            [&](const Prompt& prompt) { return prompt.workload_class == name; }),
              24);
}

TEST(Selection, warms_up_on_prompts_that_are_not_measured) {
  const auto prompts = load_workload("lab");
  const auto selection = select(*prompts, {"json", "c"}, 10);
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->measured.size(), 20u);
  ASSERT_FALSE(selection->warm_up.empty());
  std::set<std::string> measured;
  for (const auto& prompt : selection->measured) measured.insert(prompt.id);
  for (const auto& prompt : selection->warm_up) EXPECT_EQ(measured.count(prompt.id), 0u);
}

TEST(Selection, that_measures_everything_still_has_a_disjoint_warm_up) {
  const auto prompts = read_prompts("{\"id\": \"a\", \"class\": \"c\", \"text\": \"t\"}", "one");
  const auto selection = select(*prompts, {}, 10);
  ASSERT_TRUE(selection);
  ASSERT_EQ(selection->warm_up.size(), 1u);
  EXPECT_NE(selection->warm_up[0].id, "a");
}

TEST(Selection, names_the_classes_there_are_when_one_is_unknown) {
  const auto prompts = load_workload("lab");
  const auto selection = select(*prompts, {"rust"}, 10);
  ASSERT_FALSE(selection);
  EXPECT_NE(selection.error().message.find("c, json, prose, python"), std::string::npos);
}

}  // namespace
}  // namespace paceline::workload
