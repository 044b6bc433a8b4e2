#include "workload/question.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/prompts.hpp"

namespace paceline::workload {
namespace {

using ::testing::HasSubstr;
using util::Json;

Question question(const std::string& answer) { return {"task", answer, std::nullopt, 0.5, {}}; }

Question question_with_schema(const std::string& answer, const char* schema) {
  return {"task", answer, Json::parse(schema), 0.5, {}};
}

std::string refusal(const std::string& fields) {
  const auto read =
      read_workload(R"({"id": "a", "class": "c", "text": "t", )" + fields + "}", "mine.jsonl");
  return read ? "" : read.error().message;
}

TEST(Question, is_answered_by_the_rest_of_the_line_blanks_around_it_aside) {
  EXPECT_TRUE(is_right(question(" rain"), " rain\nkey lamp = sand"));
  EXPECT_TRUE(is_right(question(" rain"), "rain \r\n"));
  EXPECT_FALSE(is_right(question(" rain"), "rain lamp"));
  EXPECT_FALSE(is_right(question(" rain"), "rai"));
  EXPECT_FALSE(is_right(question(" rain"), "\nrain")) << "the next line is another line";
  EXPECT_FALSE(is_right(question(" rain"), ""));
  EXPECT_FALSE(is_right(question("a  b"), "a b")) << "blanks inside count";
}

TEST(Question, with_a_schema_takes_any_value_that_fits_it_and_nothing_else) {
  const auto asked = question_with_schema(
      R"({"sea": 4, "sky": "x"})",
      R"({"type": "object", "required": ["sea", "sky"], "additionalProperties": false,
          "properties": {"sea": {"type": "integer"}, "sky": {"type": "string"}}})");
  EXPECT_TRUE(is_right(asked, R"( {"sky": "", "sea": -7})"));
  EXPECT_FALSE(is_right(asked, R"({"sea": 4})")) << "sky is missing";
  EXPECT_FALSE(is_right(asked, R"({"sea": 4, "sky": 1})")) << "sky is no string";
  EXPECT_FALSE(is_right(asked, R"({"sea": 4.0, "sky": "x"})")) << "sea has a point";
  EXPECT_FALSE(is_right(asked, R"({"sea": 4, "sky": "x", "sun": 1})")) << "sun is not allowed";
  EXPECT_FALSE(is_right(asked, R"({"sea": 4, "sky": "x"}})")) << "this is not JSON";
  EXPECT_FALSE(is_right(asked, R"(["sea", "sky"])"));
  EXPECT_FALSE(is_right(asked, "")) << "nothing is no JSON";
}

TEST(Schema, holds_a_value_to_its_type) {
  const std::pair<const char*, const char*> values[] = {
      {"object", "{}"},    {"array", "[1]"}, {"string", "\"a\""}, {"integer", "3"},
      {"boolean", "true"}, {"null", "null"}, {"number", "1.5"}};
  for (const auto& [type, value] : values)
    for (const auto& [other, unused] : values) {
      const bool wanted = std::string(type) == other ||
                          (std::string(type) == "integer" && std::string(other) == "number");
      EXPECT_EQ(fits(Json{{"type", other}}, Json::parse(value)), wanted)
          << value << " as " << other;
    }
}

TEST(Schema, holds_members_at_any_depth_and_constants) {
  const Json schema = Json::parse(
      R"({"properties": {"a": {"properties": {"b": {"const": "rain"}}, "required": ["b"]}}})");
  EXPECT_TRUE(fits(schema, Json::parse(R"({"a": {"b": "rain"}})")));
  EXPECT_TRUE(fits(schema, Json::parse("{}"))) << "a is not required";
  EXPECT_FALSE(fits(schema, Json::parse(R"({"a": {"b": "snow"}})")));
  EXPECT_FALSE(fits(schema, Json::parse(R"({"a": {}})")));
}

TEST(Question, of_a_record_is_read_with_all_that_it_says) {
  const auto read = read_workload(
      R"({"id": "a", "class": "c", "text": "t", "task": "recall", "answer": " 5", "depth": 32, )"
      R"("chance": 0.1, "schema": {"type": "integer"}})",
      "mine.json");
  ASSERT_TRUE(read) << read.error().message;
  const auto& asked = read->prompts.at(0).question;
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->task, "recall");
  EXPECT_EQ(asked->answer, " 5");
  EXPECT_EQ(asked->depth, 32);
  EXPECT_DOUBLE_EQ(asked->chance, 0.1);
  EXPECT_TRUE(is_right(*asked, "77"));
  EXPECT_FALSE(
      read_workload(R"({"id": "a", "class": "c", "text": "t"})", "m")->prompts[0].question);
}

TEST(Question, that_makes_no_sense_is_refused_with_the_reason) {
  const std::string task = R"("task": "t", "chance": 0.1, )";
  const std::pair<std::string, const char*> cases[] = {
      {R"("answer": "x")", "\"task\" is missing"},
      {R"("answer": 7, "task": "t", "chance": 0.1)", "a string was expected"},
      {R"("answer": "x", "task": "t")", "\"chance\" is missing"},
      {R"("answer": "x", "task": "", "chance": 0.1)", "\"task\" is empty"},
      {R"("answer": "x", "task": "t", "chance": 1.5)", "from 0 to 1"},
      {task + R"("answer": " ")", "\"answer\" is empty"},
      {task + R"("answer": "x\ny")", "more than a line"},
      {task + R"("answer": "x", "depth": "far")", "depth"},
      {task + R"("answer": "1", "schema": 3)", "an object was expected"},
      {task + R"("answer": "1", "schema": {"type": "whole"})", "no type \"whole\""},
      {task + R"("answer": "1", "schema": {"minimum": 0})", "\"minimum\" is not read"},
      {task + R"("answer": "{}", "schema": {"properties": {"a": {"maximum": 1}}})", "\"maximum\""},
      {task + R"("answer": "1", "schema": {"required": "a"})", "an array was expected"},
      {task + R"("answer": "1", "schema": {"additionalProperties": true})", "can only be false"},
      {task + R"("answer": "x", "schema": {"type": "integer"})", "wrong by its own \"schema\""},
  };
  for (const auto& [fields, reason] : cases) EXPECT_THAT(refusal(fields), HasSubstr(reason));
}

}  // namespace
}  // namespace paceline::workload
