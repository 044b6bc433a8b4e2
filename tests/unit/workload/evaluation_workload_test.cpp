#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "workload/prompts.hpp"

// Every question of the evaluation set against a rule of its task that is written here from the
// prompt alone, and not taken from the file's answer or schema.

namespace paceline::workload {
namespace {

constexpr double words = 64;  // that names and values are drawn from, as workloads/README.md says

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// What stands between the first `open` and the first `close` behind it.
std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const auto begin = text.find(open) + open.size();
  return text.substr(begin, text.find(close, begin) - begin);
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (auto end = text.find(separator); end != std::string::npos;
       end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

double choose(double n, std::size_t k) {
  double product = 1;
  for (std::size_t i = 0; i < k; ++i) product *= (n - double(i)) / double(i + 1);
  return product;
}

/// A right answer by a task's rule and the chance of one drawn blindly.
struct Expected {
  std::string answer;
  double chance = 0;
};

Expected copy(const std::string& prompt) {
  const std::string span = between(prompt, "\"", "\"");
  return {'"' + span + '"', std::pow(words, -double(split(span, " ").size()))};
}

/// Pairs are taken out until none is left: what remains of well nested code is what is open.
Expected brackets(const std::string& prompt) {
  std::string open = lines_of(prompt).at(0);
  open.erase(
      std::remove_if(open.begin(), open.end(),
                     [](char c) { return std::string("()[]{}").find(c) == std::string::npos; }),
      open.end());
  for (bool found = true; found;) {
    found = false;
    for (const char* pair : {"()", "[]", "{}"})
      if (const auto at = open.find(pair); at != std::string::npos) {
        open.erase(at, 2);
        found = true;
      }
  }
  std::string answer;
  for (auto each = open.rbegin(); each != open.rend(); ++each)
    answer += std::string(answer.empty() ? "" : " ") + (*each == '('   ? ')'
                                                        : *each == '[' ? ']'
                                                                       : '}');
  return {answer, std::pow(3, -double(open.size()))};
}

Expected arguments(const std::string& prompt) {
  const std::string listed = between(prompt, "(", ")");
  double chance = 1;
  for (std::size_t i = 0; i < split(listed, ", ").size(); ++i) chance /= words - 1 - double(i);
  return {listed + ")", chance};
}

Expected object(const std::string& prompt) {
  const auto wanted =
      util::Json::parse(lines_of(prompt).at(0).substr(std::string("schema:").size()));
  const std::map<std::string, util::Json> samples = {
      {"string", "any"}, {"integer", -3}, {"boolean", false}, {"array", util::Json::array()}};
  util::Json answer = util::Json::object();
  for (const auto& [key, type] : wanted.items()) answer[key] = samples.at(type.get<std::string>());
  const auto keys = wanted.size();
  return {answer.dump(), 1 / (choose(words, keys) * std::pow(4, double(keys)))};
}

Expected call(const std::string& prompt) {
  const auto tool = util::Json::parse(lines_of(prompt).at(0).substr(std::string("tool:").size()));
  util::Json values;
  for (const auto& wish :
       split(lines_of(prompt).at(1).substr(prompt.find(" with ") - prompt.find('\n') + 5), ", "))
    values[split(wish, " ").at(0)] = split(wish, " ").at(1);
  util::Json arguments;
  for (const auto& name : tool.at("parameters")) {
    const auto key = name.get<std::string>();
    arguments[key] = values.at(key);
  }
  const auto count = arguments.size();
  const double calls = words * choose(words - 1, count) * std::pow(words, double(count));
  return {util::Json{{"name", tool.at("name")}, {"arguments", arguments}}.dump(), 1 / calls};
}

Expected recall(const std::string& prompt) {
  const auto lines = lines_of(prompt);
  for (const auto& key : {lines.at(0), lines.at(1)})
    if (key.rfind(lines.back() + " ", 0) == 0)
      return {key.substr(lines.back().size() + 1), 1 / words};
  return {};
}

const std::map<std::string, Expected (*)(const std::string&)> rules = {
    {"copy", copy},     {"brackets", brackets}, {"arguments", arguments},
    {"object", object}, {"call", call},         {"recall", recall}};

std::vector<Prompt> evaluation() {
  auto read = load_workload("evaluation");
  EXPECT_TRUE(read) << read.error().message;
  return read ? read->prompts : std::vector<Prompt>{};
}

TEST(Evaluation, has_every_task_and_recall_at_every_depth) {
  std::map<std::string, int> tasks;
  std::map<int, int> depths;
  for (const auto& prompt : evaluation()) {
    ASSERT_TRUE(prompt.question) << prompt.id;
    ++tasks[prompt.question->task];
    EXPECT_EQ(prompt.question->depth.has_value(), prompt.question->task == "recall") << prompt.id;
    if (prompt.question->depth) ++depths[*prompt.question->depth];
  }
  EXPECT_EQ(tasks.size(), rules.size());
  for (const auto& [task, count] : tasks) EXPECT_GE(count, 48) << task;
  EXPECT_EQ(depths, (std::map<int, int>{{32, 48}, {64, 48}, {128, 48}, {256, 48}, {400, 48}}));
}

TEST(Evaluation, takes_the_answers_that_follow_from_the_prompts_and_says_their_chance) {
  for (const auto& prompt : evaluation()) {
    const Expected expected = rules.at(prompt.question->task)(prompt.text);
    EXPECT_TRUE(is_right(*prompt.question, " " + expected.answer + "\n\nsay: more"))
        << prompt.id << ": " << expected.answer;
    EXPECT_TRUE(is_right(*prompt.question, prompt.question->answer)) << prompt.id;
    EXPECT_NEAR(prompt.question->chance / expected.chance, 1, 1e-9) << prompt.id;
  }
}

TEST(Evaluation, refuses_answers_that_are_nearly_right) {
  for (const auto& prompt : evaluation()) {
    const std::string answer = rules.at(prompt.question->task)(prompt.text).answer;
    for (const std::string& wrong : {answer.substr(0, answer.size() - 1), answer + "x",
                                     answer.substr(1), std::string(), "\n" + answer})
      EXPECT_FALSE(is_right(*prompt.question, wrong)) << prompt.id << ": " << wrong;
  }
}

TEST(Evaluation, refuses_the_other_key_and_members_of_another_type) {
  for (const auto& prompt : evaluation()) {
    const Question& question = *prompt.question;
    if (question.task == "recall") {
      const auto lines = lines_of(prompt.text);
      const auto right = rules.at("recall")(prompt.text).answer;
      for (const auto& key : {lines.at(0), lines.at(1)})
        EXPECT_EQ(is_right(question, split(key, " = ").at(1)), split(key, " = ").at(1) == right)
            << prompt.id;
    }
    if (question.task == "object") {
      const auto right = util::Json::parse(rules.at("object")(prompt.text).answer);
      for (const auto& [key, value] : right.items()) {
        auto wrong = right;
        wrong[key] = nullptr;
        EXPECT_FALSE(is_right(question, wrong.dump())) << prompt.id;
        wrong.erase(key);
        EXPECT_FALSE(is_right(question, wrong.dump())) << prompt.id;
      }
    }
  }
}

TEST(Evaluation, asks_each_question_once) {
  std::set<std::string> texts;
  for (const auto& prompt : evaluation())
    EXPECT_TRUE(texts.insert(prompt.text).second) << prompt.id;
}

}  // namespace
}  // namespace paceline::workload
