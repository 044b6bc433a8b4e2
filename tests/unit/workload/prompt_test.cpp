#include "workload/prompt.hpp"

#include <gtest/gtest.h>

namespace paceline::workload {
namespace {

TEST(PromptForms, of_text_are_itself_and_one_user_message) {
  Prompt prompt;
  prompt.id = "a";
  prompt.text = "int main() {";
  const auto chat = in_chat_form(prompt);
  ASSERT_EQ(chat.messages.size(), 1u);
  EXPECT_EQ(chat.messages[0].role, "user");
  EXPECT_EQ(chat.messages[0].content, "int main() {");
  EXPECT_EQ(chat.text, "") << "one form and no other";
  EXPECT_EQ(in_raw_form(prompt)->text, "int main() {");
}

TEST(PromptForms, of_one_user_message_are_itself_and_its_content) {
  const auto prompt = user_prompt("a", "chat", "Why is the sky blue?");
  EXPECT_EQ(in_raw_form(prompt)->text, "Why is the sky blue?");
  EXPECT_TRUE(in_raw_form(prompt)->messages.empty());
  EXPECT_EQ(in_chat_form(prompt).messages.size(), 1u);
}

TEST(PromptForms, of_a_conversation_are_messages_only) {
  auto prompt = user_prompt("a", "chat", "Go on.");
  prompt.messages.insert(prompt.messages.begin(), {"system", "Be brief."});
  EXPECT_FALSE(in_raw_form(prompt));
  prompt.text = "Written for it: ";
  EXPECT_EQ(in_raw_form(prompt)->text, "Written for it: ");
  EXPECT_EQ(in_chat_form(prompt).messages.size(), 2u) << "its own messages, not its text";
}

TEST(PromptForms, of_an_assistants_message_are_no_text) {
  auto prompt = user_prompt("a", "chat", "Yes.");
  prompt.messages[0].role = "assistant";
  EXPECT_FALSE(in_raw_form(prompt));
}

}  // namespace
}  // namespace paceline::workload
