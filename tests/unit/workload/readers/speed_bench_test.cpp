#include "support/published_text.hpp"

namespace paceline::workload {
namespace {

using support::Notes;
using support::read_published;
using support::refusal_of_published;

constexpr const char* speed_bench_tail =
    R"("sub_category": "s", "source": "somewhere", "src_id": "7", "difficulty": "", "multiturn": false})";

TEST(SpeedBench, leaves_out_records_whose_text_was_not_fetched) {
  const auto workload = read_published(
      std::string(R"({"question_id": "q1", "category": "coding", "turns": ["Write a parser."], )") +
      speed_bench_tail + "\n" +
      R"({"question_id": "q2", "category": "summarization", "turns": ["FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH\n\nSummarise: {article}"], )" +
      speed_bench_tail + "\n" +
      R"({"question_id": "q3", "category": "high_entropy", "turns": ["Once"], )" +
      speed_bench_tail);
  ASSERT_EQ(workload.prompts.size(), 2u);
  EXPECT_EQ(workload.prompts[0].id, "q1");
  EXPECT_EQ(workload.prompts[0].workload_class, "code");
  EXPECT_EQ(workload.prompts[1].workload_class, "high_entropy");
  EXPECT_EQ(workload.notes, (Notes{"read as speed-bench",
                                   "left out: 1 of 3 records, which hold a placeholder; "
                                   "SPEED-Bench's own preparation fetches the text"}));
}

TEST(SpeedBench, as_its_preparation_writes_it_has_a_message_a_turn) {
  const auto workload = read_published(
      std::string(
          R"({"question_id": "q1", "category": "qa", "messages": [{"role": "user", "content": )") +
      R"("First?"}, {"role": "user", "content": "Second?"}], )" + speed_bench_tail);
  ASSERT_EQ(workload.prompts.size(), 1u);
  ASSERT_EQ(workload.prompts[0].messages.size(), 1u);
  EXPECT_EQ(workload.prompts[0].messages[0].content, "First?");
  EXPECT_EQ(workload.notes[1], "only the first turn is used: 1 of 1 records have more");
}

TEST(SpeedBench, of_placeholders_alone_is_refused_with_the_reason) {
  const auto text = refusal_of_published(
      std::string(
          R"({"question_id": "q", "category": "rag", "turns": ["FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH"], )") +
      speed_bench_tail);
  EXPECT_EQ(text,
            "published holds no prompts; left out: 1 of 1 records, which hold a placeholder; "
            "SPEED-Bench's own preparation fetches the text");
}

}  // namespace
}  // namespace paceline::workload
