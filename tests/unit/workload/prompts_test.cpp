#include "workload/prompts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::workload {
namespace {

std::string refusal(const std::string& text, const std::string& format = any_format) {
  const auto read = read_workload(text, "mine.jsonl", format);
  return read ? "" : read.error().message;
}

TEST(Workload, of_our_own_format_has_text_or_messages_or_both) {
  const auto read = read_workload(
      "{\"id\": \"a\", \"class\": \"code\", \"text\": \"int\"}\n\n"
      "{\"id\": \"b\", \"class\": \"code\", \"text\": \"x\\ny\", \"family\": \"f\", \"licence\": "
      "\"CC0\","
      " \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}",
      "mine.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  const auto& prompts = read->prompts;
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_EQ(prompts[0].family, "a") << "a prompt without a family is its own";
  EXPECT_EQ(prompts[1].family, "f");
  EXPECT_EQ(prompts[1].text, "x\ny");
  EXPECT_EQ(prompts[1].licence, "CC0");
  ASSERT_EQ(prompts[1].messages.size(), 1u);
  EXPECT_EQ(prompts[1].messages[0].content, "hi");
  EXPECT_TRUE(read->notes.empty()) << "nothing was left out";
}

TEST(Workload, messages_may_have_parts_of_text_and_images) {
  const auto read = read_workload(
      R"({"id": "a", "class": "c", "messages": [{"role": "user", "content": [)"
      R"({"type": "text", "text": "What "}, {"type": "image_url", "image_url": )"
      R"({"url": "data:image/png;base64,AAAA"}}, {"type": "text", "text": "is this?"}]}]})",
      "mine.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  const Prompt& prompt = read->prompts.at(0);
  EXPECT_EQ(prompt.messages.at(0).content, "What is this?");
  EXPECT_EQ(prompt.messages.at(0).images, std::vector<std::string>{"data:image/png;base64,AAAA"});
  EXPECT_TRUE(has_images(prompt));
  EXPECT_FALSE(in_raw_form(prompt)) << "its image would be lost";
}

TEST(Workload, that_makes_no_sense_is_named_by_file_and_line) {
  const std::string good = "{\"id\": \"a\", \"class\": \"c\", \"text\": \"t\"}\n";
  const auto with_messages = [](const std::string& messages) {
    return "{\"id\": \"b\", \"class\": \"c\", \"messages\": " + messages + "}";
  };
  const auto with_parts = [&](const std::string& parts) {
    return with_messages("[{\"role\": \"user\", \"content\": [" + parts + "]}]");
  };
  const std::pair<std::string, const char*> cases[] = {
      {"", "no prompts"},
      {good + "not json", "line 2"},
      {good + "{\"id\": \"b\", \"class\": \"c\"}", "neither \"text\" nor \"messages\""},
      {good + "{\"id\": \"b\", \"class\": \"c\", \"text\": \"\"}", "\"text\" is empty"},
      {good + "{\"id\": \"b\", \"class\": 5, \"text\": \"t\"}", "a string was expected"},
      {good + "{\"class\": \"c\", \"text\": \"t\"}", "\"id\" is missing"},
      {good + "[1]", "\"id\" is missing"},
      {good + good, "line 2: the id \"a\" was used before"},
      {with_messages("[]"), "there are no messages"},
      {with_messages("7"), "an array was expected"},
      {with_messages("[{\"role\": \"tool\", \"content\": \"x\"}]"), "the role \"tool\""},
      {with_messages("[{\"role\": \"user\", \"content\": \"x\"}, "
                     "{\"role\": \"assistant\", \"content\": \"y\"}]"),
       "the last message is not the user's"},
      {with_messages("[{\"role\": \"user\", \"content\": \" \\n\"}]"), "or it is empty"},
      {with_parts(R"({"type": "image_url", "image_url": {"url": "https://host/a.png"}})"),
       "nothing is fetched"},
      {with_parts(R"({"type": "image_url"})"), "has no \"image_url\""},
      {with_parts(R"({"type": "image_url", "image_url": 3})"), "\"url\" is missing"},
      {with_parts(R"({"type": "input_audio"})"), "neither text nor image_url"},
      {with_parts(R"({"type": "text", "text": " "})"), "or it is empty"},
      {"{\"prompt\": \"hello\", \"n\": 3}", "keys: prompt, n"},
      {"[1, 2]", "record 1"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(refusal(text).find(expected), std::string::npos) << text << "\n" << refusal(text);
    EXPECT_NE(refusal(text).find("mine.jsonl"), std::string::npos) << refusal(text);
  }
}

TEST(Workload, format_is_found_from_the_first_record_or_named) {
  const std::string sharegpt =
      "[{\"id\": \"a\", \"conversations\": [{\"from\": \"human\", \"value\": \"Hello\"}]}]";
  EXPECT_EQ(refusal(sharegpt), "");
  EXPECT_EQ(refusal(sharegpt, "sharegpt"), "");
  EXPECT_NE(refusal(sharegpt, "mt-bench").find("record 1: \"turns\" is missing"), std::string::npos)
      << refusal(sharegpt, "mt-bench");
  EXPECT_EQ(refusal(sharegpt, "csv"),
            "there is no workload format \"csv\"; there are bfcl, mt-bench, paceline, sharegpt, "
            "speed-bench");
}

TEST(Workload, longer_than_any_context_is_refused) {
  const std::string huge(9 << 20, 'x');
  EXPECT_NE(refusal("{\"id\": \"a\", \"class\": \"c\", \"text\": \"" + huge + "\"}")
                .find("longer than 8388608 bytes"),
            std::string::npos);
}

TEST(Workload, of_the_lab_has_24_prompts_of_each_class) {
  const auto lab = load_workload("lab");
  ASSERT_TRUE(lab) << lab.error().message;
  for (const char* name : {"prose", "novel", "c", "python", "json", "tools"})
    EXPECT_EQ(std::count_if(lab->prompts.begin(), lab->prompts.end(),
                            [&](const Prompt& prompt) { return prompt.workload_class == name; }),
              24);
}

TEST(Workload, in_a_file_is_read_and_a_missing_one_named) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "question.jsonl";
  ASSERT_TRUE(util::write_file(
      path, "{\"question_id\": 1, \"category\": \"math\", \"turns\": [\"2+2?\"]}"));
  const auto read = load_workload(path.string());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->notes, std::vector<std::string>{"read as mt-bench"});
  const auto missing = load_workload((folder.path() / "nothing.jsonl").string());
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("nothing.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace paceline::workload
