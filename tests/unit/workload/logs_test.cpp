#include "workload/logs.hpp"

#include <gtest/gtest.h>

namespace paceline::workload {
namespace {

protocol::KnownText only(const std::string& record) {
  const auto logs = read_logs(record, "log");
  EXPECT_TRUE(logs) << logs.error().message;
  if (!logs) return {};
  EXPECT_EQ(logs->texts.size(), 1u);
  return logs->texts.front();
}

TEST(Logs, answers_are_found_where_chat_completions_keep_them) {
  struct Case {
    const char* record;
    const char* text;
    const char* workload_class;
  };
  const Case cases[] = {
      {R"({"messages": [{"role": "user", "content": "why?"}],
           "choices": [{"message": {"content": "so"}}]})",
       "so", "prose"},
      {R"({"request": {"messages": [{"role": "user", "content": "why?"}]},
           "response": {"choices": [{"message": {"content": "so"}}]}})",
       "so", "prose"},
      {R"({"request": {"body": {"messages": [{"role": "user", "content": "why?"}]}}, "class": "qa",
           "response": {"body": {"choices": [{"message": {"content": "so"}}]}}})",
       "so", "qa"},
      {R"({"messages": [{"role": "user", "content": "why?"},
                        {"role": "assistant", "content": "[1, 2]"}]})",
       "[1, 2]", "json"},
      {R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "why?"}]}],
           "choices": [{"message": {"content": null, "tool_calls":
                        [{"function": {"name": "f", "arguments": "{}"}}]}}]})",
       "{\"name\":\"f\",\"arguments\":\"{}\"}\n", "tool_calls"},
      {R"({"prompt": "why?", "completion": "```\nabcdef\n```", "category": ""})",
       "```\nabcdef\n```", "code"},
  };
  for (const auto& one : cases) {
    // One record a line.
    std::string record = one.record;
    std::erase(record, '\n');
    const auto text = only(record);
    EXPECT_EQ(text.text, one.text) << one.record;
    EXPECT_EQ(text.workload_class, one.workload_class) << one.record;
    EXPECT_EQ(text.messages.empty() ? text.prompt : text.messages.front().content, "why?");
  }
}

TEST(Logs, what_answers_nothing_is_counted_and_left_out) {
  const auto logs = read_logs(
      "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}\n"
      "{\"completion\": \"b\"}\n"
      "{\"id\": \"x\", \"prompt\": \"c\", \"completion\": \"d\"}\n"
      "{\"id\": \"x\", \"prompt\": \"e\", \"completion\": \"f\"}\n",
      "log");
  ASSERT_TRUE(logs);
  ASSERT_EQ(logs->texts.size(), 2u);
  EXPECT_EQ(logs->texts[0].prompt_id, "x");
  EXPECT_EQ(logs->texts[1].prompt_id, "record-4");
  ASSERT_EQ(logs->notes.size(), 3u);
  EXPECT_EQ(logs->notes[0], "1 of 4 records have no answer");
  EXPECT_EQ(logs->notes[1], "1 of 4 records have an answer and nothing that it answers");
}

TEST(Logs, what_holds_a_zero_is_no_text) {
  EXPECT_FALSE(read_logs(std::string_view("GGUF\x03\0\0\0 and more", 17), "m.gguf"));
}

TEST(Logs, plain_text_is_taken_in_pieces_at_line_ends_and_never_in_a_character) {
  std::string line(99, 'x');
  std::string text;
  for (int i = 0; i < 100; ++i) text += line + "\n";
  const auto logs = read_logs(text, "log");
  ASSERT_TRUE(logs);
  ASSERT_EQ(logs->texts.size(), 3u);  // 4,100 bytes, 4,100 and 1,800
  std::string whole;
  for (const auto& one : logs->texts) whole += one.prompt + one.text;
  EXPECT_EQ(whole, text);
  EXPECT_EQ(logs->texts[0].prompt.size(), 1025u);
  const auto umlauts = read_logs("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F\xC3\xA4\xC3\xB6", "log");
  ASSERT_TRUE(umlauts);
  EXPECT_EQ(umlauts->texts[0].prompt, "\xC3\xA4");  // a quarter of 12 bytes ends in the second
}

TEST(Logs, a_file_without_any_text_is_refused_with_what_to_write) {
  for (const char* text : {"", "  \n", "{\"a\": 1}", "[]"}) {
    const auto logs = read_logs(text, "my.log");
    ASSERT_FALSE(logs) << text;
    EXPECT_NE(logs.error().message.find("\"choices\""), std::string::npos);
  }
  EXPECT_FALSE(read_logs("{\"messages\": ", "my.log"));
}

TEST(Logs, classes_are_guessed_by_what_most_of_a_text_is) {
  EXPECT_EQ(guess_class(" {\"a\": 1}\n"), "json");
  EXPECT_EQ(guess_class("{not json}"), "prose");
  EXPECT_EQ(guess_class("ab ```cd```"), "prose");        // 2 of 11 bytes
  EXPECT_EQ(guess_class("ab ```cdefghij```"), "prose");  // 8 of 17
  EXPECT_EQ(guess_class("ab ```cdefghijk```"), "code");  // 9 of 18
  EXPECT_EQ(guess_class("a ```open to the end"), "code");
}

}  // namespace
}  // namespace paceline::workload
