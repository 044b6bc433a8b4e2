#include "support/published_text.hpp"

namespace paceline::workload {
namespace {

using support::Notes;
using support::read_published;
using support::refusal_of_published;

TEST(ShareGpt, gives_the_users_first_message_with_the_system_message_before_it) {
  const auto workload = read_published(R"([
    {"id": "AbC_0", "conversations": [{"from": "human", "value": "Hello"},
      {"from": "gpt", "value": "Hi"}, {"from": "human", "value": "Bye"}]},
    {"id": "AbC_9", "conversations": [{"from": "system", "value": "Be kind."},
      {"from": "human", "value": "Why?"}]},
    {"id": "x", "conversations": [{"from": "gpt", "value": "an answer"},
      {"from": "human", "value": "And then?"}]},
    {"id": "y", "conversations": []}])");
  ASSERT_EQ(workload.prompts.size(), 2u);
  EXPECT_EQ(workload.prompts[0].workload_class, "chat");
  EXPECT_EQ(workload.prompts[0].messages[0].content, "Hello");
  EXPECT_EQ(workload.prompts[0].family, "AbC") << "pieces of one conversation are one family";
  EXPECT_EQ(workload.prompts[1].family, "AbC");
  ASSERT_EQ(workload.prompts[1].messages.size(), 2u);
  EXPECT_EQ(workload.prompts[1].messages[0].role, "system");
  EXPECT_EQ(workload.prompts[1].messages[1].content, "Why?");
  EXPECT_EQ(workload.notes,
            (Notes{"read as sharegpt", "only the first turn is used: 1 of 4 records have more",
                   "left out: 2 of 4 records, which do not begin with a message of the user's"}));
}

TEST(ShareGpt, without_ids_counts_its_records) {
  const auto workload = read_published(R"([{"conversations": [{"from": "user", "value": "One"}]},
    {"conversations": [{"from": "user", "value": "Two"}]}])");
  EXPECT_EQ(workload.prompts[0].id, "record-1");
  EXPECT_EQ(workload.prompts[1].id, "record-2");
  EXPECT_EQ(workload.prompts[1].family, "record-2") << "no pieces of one conversation";
}

TEST(ShareGpt, with_a_turn_of_another_shape_is_refused_by_record) {
  EXPECT_EQ(
      refusal_of_published(R"([{"id": "a", "conversations": [{"from": "human", "value": "x"}]},
    {"id": "b", "conversations": [{"value": "x"}]}])"),
      "published, record 2: \"from\" is missing");
  EXPECT_EQ(refusal_of_published(R"([{"id": "a", "conversations": "x"}])"),
            "published, record 1: conversations: an array was expected");
}

}  // namespace
}  // namespace paceline::workload
