#include "support/published_text.hpp"

namespace paceline::workload {
namespace {

using support::read_published;
using support::refusal_of_published;

TEST(Bfcl, offers_the_functions_in_a_system_message) {
  const auto workload = read_published(
      R"({"id": "simple_python_3", "question": [[{"role": "user", "content": "Book a table."}]], "function": [{"name": "table.book", "description": "d", "parameters": {"type": "dict"}}]}
{"id": "live_multiple_4-1-0", "question": [[{"role": "system", "content": "You are terse."}, {"role": "user", "content": "Two tables."}]], "function": [{"name": "table.book"}, {"name": "table.free"}]}
{"id": "live_irrelevance_1-0-0", "question": [[{"role": "user", "content": "Sing."}]], "function": [{"name": "table.book"}]})");
  ASSERT_EQ(workload.prompts.size(), 3u);
  const auto& first = workload.prompts[0];
  EXPECT_EQ(first.workload_class, "tool-calls");
  ASSERT_EQ(first.messages.size(), 2u);
  EXPECT_EQ(first.messages[0].role, "system");
  EXPECT_NE(first.messages[0].content.find(
                R"([{"name":"table.book","description":"d","parameters":{"type":"dict"}}])"),
            std::string::npos)
      << first.messages[0].content;
  EXPECT_EQ(first.messages[1].content, "Book a table.");
  EXPECT_EQ(first.family, "table.book");
  ASSERT_EQ(workload.prompts[1].messages.size(), 2u) << "its own system message goes first";
  EXPECT_EQ(workload.prompts[1].messages[0].content.rfind("You are terse.\n\n", 0), 0u);
  EXPECT_EQ(workload.prompts[1].family, "table.book, table.free");
  EXPECT_EQ(workload.prompts[2].workload_class, "irrelevance") << "the right answer is no call";
}

TEST(Bfcl, whose_functions_are_elsewhere_is_refused_with_the_reason) {
  EXPECT_EQ(
      refusal_of_published(
          R"({"id": "multi_turn_base_0", "question": [[{"role": "user", "content": "Move it."}], [{"role": "user", "content": "Sort it."}]], "involved_classes": ["Files"]})"),
      "published holds no prompts; left out: 1 of 1 records, whose functions are in other files "
      "(multi-turn, web search, memory)");
}

TEST(Bfcl, of_another_shape_is_refused_by_line) {
  const auto with_question = [](const std::string& question) {
    return R"({"id": "a", "question": )" + question + R"(, "function": [{"name": "f"}]})";
  };
  EXPECT_EQ(refusal_of_published(with_question("[]")),
            "published, line 1: question: an array of turns was expected");
  EXPECT_EQ(refusal_of_published(with_question("[[]]")),
            "published, line 1: there are no messages");
  EXPECT_EQ(
      refusal_of_published(
          R"({"id": "a", "question": [[{"role": "user", "content": "x"}]], "function": [{}]})"),
      "published, line 1: \"name\" is missing");
  EXPECT_EQ(refusal_of_published(
                R"({"id": "a", "question": [[{"role": "user", "content": "x"}]], "function": []})"),
            "published, line 1: function: an array of functions was expected");
}

}  // namespace
}  // namespace paceline::workload
