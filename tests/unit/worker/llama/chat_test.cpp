#include "worker/llama/chat.hpp"

#include <gtest/gtest.h>

#include <string>

#include "gguf.h"
#include "support/lab_copy.hpp"
#include "support/memory_port.hpp"
#include "support/worker_process.hpp"
#include "worker/llama/generation.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/loading.hpp"
#include "worker/llama/prompt.hpp"

namespace paceline::worker {
namespace {

using Messages = std::vector<protocol::ChatMessage>;

const Messages question = {{"system", "Be brief."}, {"user", "Which day is it?"}};

const char* const simple_template =
    "{% for message in messages %}[{{ message.role }}] {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}";

class Chat : public testing::Test {
 protected:
  LoadedModelPtr open(const char* chat_template) {
    trace::Setup setup = support::lab_setup(trace::SpecType::none);
    if (chat_template != nullptr)
      setup.model_path = support::lab_copy("target-mtp-f16.gguf", folder_, [&](gguf_context* gguf) {
        gguf_set_val_str(gguf, "tokenizer.chat_template", chat_template);
      });
    return load(setup, {}).value();
  }

  static std::string refusal(LoadedModel& model, const Messages& messages) {
    MemoryPort port;
    protocol::Generate job = support::greedy(std::string(), 4);
    job.messages = messages;
    const auto finished = generate(model, job, port);
    return finished.outcome.kind == trace::OutcomeKind::refused ? finished.outcome.reason
                                                                : "was not refused";
  }

  using MemoryPort = support::MemoryPort;
  support::TemporaryFolder folder_;
};

TEST_F(Chat, is_rendered_up_to_where_the_answer_begins) {
  const auto model = open(simple_template);
  EXPECT_EQ(render_chat(*model, question).value(),
            "[system] Be brief.\n[user] Which day is it?\n[assistant] ");
}

TEST_F(Chat, becomes_the_tokens_of_its_text) {
  const auto model = open(simple_template);
  protocol::Generate raw;
  raw.prompt = "[user] Which day is it?\n[assistant] ";
  raw.n_predict = 1;
  protocol::Generate chat = raw;
  chat.prompt = "";
  chat.messages = {question[1]};
  const auto tokens = read_prompt(*model, chat).value();
  EXPECT_EQ(tokens, read_prompt(*model, raw).value());
  EXPECT_GT(tokens.size(), 5u);
}

// <|endoftext|> is token 256 of the laboratory models (models/README.md).
TEST_F(Chat, has_the_special_tokens_of_its_template) {
  const auto model = open("{{ messages[0].content }}<|endoftext|>");
  protocol::Generate job;
  job.messages = {{"user", "Yes"}};
  job.n_predict = 1;
  EXPECT_EQ(read_prompt(*model, job)->back(), 256);
}

TEST_F(Chat, is_refused_by_a_model_without_a_template) {
  const auto model = open(nullptr);
  EXPECT_NE(refusal(*model, question).find("has no chat template"), std::string::npos);
  support::MemoryPort port;
  EXPECT_EQ(generate(*model, support::greedy(std::string("Once"), 4), port).outcome.kind,
            trace::OutcomeKind::done)
      << "raw prompts still work";
}

TEST_F(Chat, that_its_template_does_not_take_is_refused_in_the_templates_words) {
  const auto model = open("{{ raise_exception('only one system message') }}");
  EXPECT_NE(refusal(*model, question).find("only one system message"), std::string::npos);
}

TEST_F(Chat, is_refused_where_the_template_cannot_be_parsed) {
  const auto model = open("{% for message in messages %}{{ message.content }");
  EXPECT_NE(refusal(*model, question).find("chat template"), std::string::npos);
}

TEST_F(Chat, that_ends_with_the_assistant_is_refused) {
  const auto model = open(simple_template);
  EXPECT_NE(refusal(*model, {question[1], {"assistant", "It is"}}).find("end with one"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline::worker
