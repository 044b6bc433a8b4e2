#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/server_run.hpp"
#include "util/files.hpp"

// Chat prompts with images, by --image and from a file, to servers that take them.

namespace paceline {
namespace {

using support::known_server;
using support::MockServer;
using support::ServerRun;
using support::workload_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

mock::Options with_projector(const std::string& dialect) {
  auto options = known_server(dialect, 0.02);
  options.truth.takes_images = true;
  return options;
}

/// The images of every request to a path, each once.
std::set<std::string> images_to(const MockServer& server, const std::string& path) {
  std::set<std::string> images;
  for (const auto& received : server.received()) {
    if (received.target != path) continue;
    const auto body = util::parse_json(received.body, "a request");
    for (const auto& message : body->at("messages")) {
      if (message.contains("images"))
        for (const auto& image : message.at("images")) images.insert(image.get<std::string>());
      if (!message.at("content").is_array()) continue;
      for (const auto& part : message.at("content"))
        if (part.at("type") == "image_url")
          images.insert(part.at("image_url").at("url").get<std::string>());
    }
  }
  return images;
}

TEST(Images, go_with_every_chat_prompt_each_another_one) {
  const MockServer server(with_projector("llama-server"));
  const ServerRun run;
  const auto ended = run.on(server, {"--image"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto images = images_to(server, "/v1/chat/completions");
  EXPECT_EQ(images.size(), 4u) << "two to warm up and two that count";
  for (const auto& image : images) EXPECT_THAT(image, StartsWith("data:image/png;base64,iVBOR"));
  EXPECT_THAT(run.document().at("launches").at("workload_notes").dump(),
              HasSubstr("carries a picture"));
  EXPECT_EQ(workload_of(run.document()).at("decode").at("tokens_per_pass").at("value"), 2.5);
}

TEST(Images, go_to_ollama_as_it_wants_them) {
  const MockServer server(with_projector("ollama"));
  const ServerRun run;
  const auto ended = run.on(server, {"--image"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto images = images_to(server, "/api/chat");
  EXPECT_EQ(images.size(), 4u);
  for (const auto& image : images) EXPECT_THAT(image, StartsWith("iVBOR"));
}

TEST(Images, of_a_workload_file_go_through_as_they_are) {
  const MockServer server(with_projector("vllm"));
  const ServerRun run;
  ASSERT_TRUE(util::write_file(
      run.path("w.jsonl"),
      R"({"id": "a", "class": "json", "messages": [{"role": "user", "content": [)"
      R"({"type": "text", "text": "What is this?"},)"
      R"({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]})"
      "\n"));
  const auto ended = run.on(server, {"--workload", run.path("w.jsonl")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(images_to(server, "/v1/chat/completions"),
            std::set<std::string>{"data:image/png;base64,AAAA"});
}

TEST(Images, are_refused_where_the_server_says_that_it_takes_none) {
  for (const char* dialect : {"llama-server", "ollama"}) {
    const MockServer server(known_server(dialect, 0.02));
    const ServerRun run;
    const auto ended = run.on(server, {"--image"});
    EXPECT_EQ(ended.exit_code, 3) << dialect;
    EXPECT_THAT(ended.errors, HasSubstr("takes no images"));
  }
}

TEST(Images, are_refused_by_the_embedded_engine_and_without_chat_messages) {
  const ServerRun run;
  const std::string model = PACELINE_SOURCE_DIR "/models/target-mtp-f16.gguf";
  const auto embedded = run.with({"-m", model, "--image", "--prompt-form", "chat"});
  EXPECT_EQ(embedded.exit_code, 2);
  EXPECT_THAT(embedded.errors, HasSubstr("the embedded engine measures no prompts with images"));
  const auto raw = run.with({"--url", "http://127.0.0.1:9", "--image", "--prompt-form", "raw"});
  EXPECT_EQ(raw.exit_code, 2);
  EXPECT_THAT(raw.errors, HasSubstr("--image goes with chat messages"));
  const auto running = run.with({"--url", "http://127.0.0.1:9", "--mmproj", "p.gguf"});
  EXPECT_EQ(running.exit_code, 2);
  EXPECT_THAT(running.errors, HasSubstr("--mmproj is loaded with a model"));
}

TEST(Images, behind_a_link_are_refused_since_nothing_is_fetched) {
  const ServerRun run;
  ASSERT_TRUE(util::write_file(
      run.path("w.jsonl"),
      R"({"id": "a", "class": "json", "messages": [{"role": "user", "content": [)"
      R"({"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/a.png"}}]}]})"
      "\n"));
  const auto ended = run.with({"--url", "http://127.0.0.1:9", "--workload", run.path("w.jsonl")});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.errors, HasSubstr("nothing is fetched"));
}

}  // namespace
}  // namespace paceline
