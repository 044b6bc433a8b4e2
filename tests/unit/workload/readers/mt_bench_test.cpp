#include "support/published_text.hpp"

namespace paceline::workload {
namespace {

using support::Notes;
using support::read_published;
using support::refusal_of_published;

TEST(MtBench, gives_the_first_turn_under_the_class_of_its_category) {
  const auto workload =
      read_published(R"({"question_id": 301, "category": "coding", "turns": ["Sort.", "Now."]}
{"question_id": 302, "category": "writing", "turns": ["A letter."], "reference": ["x"]}
{"question_id": 303, "category": "roleplay", "turns": ["You are a pilot."]}
{"question_id": 304, "category": "stem", "turns": ["What is entropy?"]})");
  ASSERT_EQ(workload.prompts.size(), 4u);
  const auto& first = workload.prompts[0];
  EXPECT_EQ(first.id, "301");
  EXPECT_EQ(first.family, "301");
  EXPECT_EQ(first.workload_class, "code");
  ASSERT_EQ(first.messages.size(), 1u);
  EXPECT_EQ(first.messages[0].role, "user");
  EXPECT_EQ(first.messages[0].content, "Sort.");
  EXPECT_EQ(workload.prompts[1].workload_class, "prose");
  EXPECT_EQ(workload.prompts[2].workload_class, "chat");
  EXPECT_EQ(workload.prompts[3].workload_class, "stem") << "an unknown category keeps its name";
  EXPECT_EQ(workload.notes,
            (Notes{"read as mt-bench", "only the first turn is used: 1 of 4 records have more"}));
}

TEST(MtBench, in_an_array_is_the_same_and_twin_ids_get_a_number) {
  const auto workload = read_published(R"([{"question_id": 1, "category": "rag", "turns": ["a"]},
    {"question_id": 1, "category": "rag", "turns": ["b"]},
    {"question_id": "1#2", "category": "rag", "turns": ["c"]}])");
  ASSERT_EQ(workload.prompts.size(), 3u);
  EXPECT_EQ(workload.prompts[1].id, "1#2");
  EXPECT_EQ(workload.prompts[2].id, "1#2#2");
  EXPECT_EQ(workload.notes.back(), "2 ids were used before and got a number");
}

TEST(MtBench, without_a_turn_or_a_category_is_refused_by_line) {
  EXPECT_EQ(refusal_of_published(R"({"question_id": 1, "category": "rag", "turns": []})"),
            "published, line 1: there is no first turn");
  EXPECT_EQ(refusal_of_published(R"({"question_id": 1, "category": "", "turns": ["a"]})"),
            "published, line 1: \"category\" is empty");
  EXPECT_EQ(refusal_of_published(R"({"question_id": 1, "turns": ["a"]})"),
            "published, line 1: \"category\" is missing");
  EXPECT_EQ(refusal_of_published(R"({"question_id": 1, "category": "rag", "turns": [5]})"),
            "published, line 1: turns: a string was expected");
}

}  // namespace
}  // namespace paceline::workload
