#include "engine/server/api_key.hpp"

#include <gtest/gtest.h>

#include "trace/json.hpp"

namespace paceline::engine::server {
namespace {

trace::EngineFacts facts_that_say(const std::string& text) {
  trace::EngineFacts facts;
  facts.build = text;
  facts.server.emplace();
  facts.server->model = "a " + text + " b";
  facts.server->spec_types = {text};
  facts.n_ctx = 4096;
  return facts;
}

TEST(ApiKey, goes_into_a_header_and_nowhere_without_one) {
  net::Request request;
  ApiKey("").put_into(request);
  EXPECT_TRUE(request.headers.empty());
  ApiKey("sk-secret").put_into(request);
  EXPECT_EQ(net::header(request.headers, "authorization"), "Bearer sk-secret");
}

TEST(ApiKey, is_taken_out_of_every_text_that_a_server_says) {
  auto facts = facts_that_say("sk-se/cret<&");
  ApiKey("sk-se/cret<&").take_out_of(facts);
  EXPECT_EQ(facts.build, "[key]");
  EXPECT_EQ(facts.server->model, "a [key] b");
  EXPECT_EQ(facts.server->spec_types.at(0), "[key]");
  EXPECT_EQ(facts.n_ctx, 4096);
}

TEST(ApiKey, that_is_a_letter_or_two_leaves_the_report_readable) {
  auto facts = facts_that_say("temp");
  ApiKey("m").take_out_of(facts);
  EXPECT_EQ(facts.build, "temp");
}

}  // namespace
}  // namespace paceline::engine::server
