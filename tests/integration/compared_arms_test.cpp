#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/measuring_test.hpp"
#include "trace/trace_file.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

using support::Ended;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string target = std::string(PACELINE_SOURCE_DIR) + "/models/target-mtp-f16.gguf";

/// Runs whose arms are held against one another: by their texts, along one text, by their samplers.
class ComparedArms : public support::MeasuringTest {
 protected:
  Ended compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"-m", target, "-t", "1", "--class", "json"});
    arguments.insert(arguments.end(), {"--json", path("report.json"), "--trace", path("t.jsonl")});
    return run(std::move(arguments));
  }

  trace::Trace trace() const {
    return trace::read_trace(util::read_file(path("t.jsonl")).value_or(""))
        .value_or(trace::Trace{});
  }

  util::Json workload(const std::string& arm) const {
    const util::Json report = document();
    for (const auto& one : report.at("arms"))
      if (one.at("name") == arm) return one.at("workloads").at(0);
    ADD_FAILURE() << "no arm " << arm;
    return {};
  }
};

std::vector<std::int32_t> tokens_of(const trace::Request& request) {
  std::vector<std::int32_t> tokens;
  for (const auto& emission : request.emissions)
    tokens.insert(tokens.end(), emission.tokens.begin(), emission.tokens.end());
  return tokens;
}

// Drafts of n-grams come from the text itself: whatever they offer, the target decides.
TEST_F(ComparedArms, greedy_say_what_plain_says_or_a_near_tie_of_it) {
  const Ended ended = compare({"--arm", "draft-mtp:3", "--arm", "ngram-simple:4/7", "--temp", "0",
                               "--prompts", "8", "-n", "64", "--launches", "1"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  for (const char* arm : {"mtp-n3", "ngram-simple-4-7"}) {
    const auto lossless = workload(arm).at("lossless");
    EXPECT_EQ(lossless.at("texts"), 8);
    EXPECT_EQ(lossless.at("wrong"), 0) << lossless.at("says");
    EXPECT_EQ(lossless.at("unknown"), 0) << lossless.at("says");
    EXPECT_EQ(lossless.at("equal").get<int>() + lossless.at("near_tie").get<int>(), 8);
    std::set<std::string> digests;
    for (const auto& text : lossless.at("each")) {
      digests.insert(text.at("digest").get<std::string>());
      EXPECT_EQ(text.at("digest") == text.at("plain_digest"), text.at("verdict") == "equal");
    }
    EXPECT_GT(digests.size(), 1u);
  }
  EXPECT_THAT(ended.output, HasSubstr("Lossless: greedy texts beside plain's"));
}

TEST_F(ComparedArms, follow_one_text_at_any_temperature) {
  const Ended ended = compare({"--arm", "draft-mtp:3", "--arm", "ngram-simple:4/7", "--temp", "0.7",
                               "--prompts", "4", "-n", "48", "--launches", "2", "--force-text"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto measured = trace();
  ASSERT_EQ(measured.launches.size(), 7u);
  std::map<std::string, std::set<std::vector<std::int32_t>>> texts;
  for (const auto& launch : measured.launches)
    for (const auto& request : launch.requests)
      if (request.workload_class == "json") texts[request.prompt_id].insert(tokens_of(request));
  EXPECT_EQ(texts.size(), 4u);
  for (const auto& [prompt, all] : texts) EXPECT_EQ(all.size(), 1u) << prompt;
  const auto plain = workload("plain").at("output_tokens");
  for (const char* arm : {"mtp-n3", "ngram-simple-4-7"}) {
    EXPECT_EQ(workload(arm).at("output_tokens"), plain);
    EXPECT_THAT(workload(arm).at("lossless").at("reason").get<std::string>(),
                HasSubstr("by construction"));
    EXPECT_EQ(workload(arm).at("decode").at("residual_passes").at("value"), 0);
  }
  EXPECT_THAT(ended.output, HasSubstr("text FORCED"));
  EXPECT_EQ(document().at("launches").at("force_text"), true);
}

TEST_F(ComparedArms, are_joined_by_those_without_each_default_that_nobody_asked_for) {
  const Ended ended =
      compare({"--arm", "draft-mtp:3", "--temp", "0.7", "--top-k", "40", "--prompts", "2", "-n",
               "24", "--launches", "1", "--price-defaults"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  std::set<std::string> names;
  std::set<std::string> priced;
  const auto measured = trace();
  for (const auto& launch : measured.launches) {
    names.insert(launch.arm);
    const auto& chain = launch.facts->sampling.chain;
    const auto has = [&](const char* sampler) {
      return std::find(chain.begin(), chain.end(), sampler) != chain.end();
    };
    EXPECT_EQ(has("min-p"), launch.arm.find("-no-min_p") == std::string::npos) << launch.arm;
    EXPECT_EQ(has("top-p"), launch.arm.find("-no-top_p") == std::string::npos) << launch.arm;
    EXPECT_TRUE(has("top-k")) << launch.arm << ": it was asked for";
  }
  EXPECT_EQ(names, (std::set<std::string>{"plain", "plain-no-min_p", "plain-no-top_p", "mtp-n3",
                                          "mtp-n3-no-min_p", "mtp-n3-no-top_p"}));
  const util::Json report = document();
  for (const auto& price : report.at("default_prices")) {
    priced.insert(price.at("without").get<std::string>());
    const auto value = [&](const char* name) { return price.at(name).at("value").get<double>(); };
    EXPECT_NEAR(value("tokens_per_s"), value("passes_per_s") * value("tokens_per_pass"), 1e-9);
  }
  EXPECT_EQ(priced.size(), 4u);
  EXPECT_THAT(ended.output, HasSubstr("Price of defaults nobody asked for"));
  EXPECT_THAT(ended.output, Not(HasSubstr("sampling_mismatch"))) << "they are meant to differ";
}

TEST_F(ComparedArms, refuse_what_would_take_the_text_from_the_target_twice) {
  const auto errors = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--arm", "draft-mtp:3"});
    const Ended ended = compare(std::move(arguments));
    EXPECT_EQ(ended.exit_code, 2);
    return ended.errors;
  };
  EXPECT_THAT(errors({"--force-text", "--accept-length", "2"}), HasSubstr("give one of them"));
  EXPECT_THAT(errors({"--force-text", "--no-plain"}), HasSubstr("leave --no-plain out"));
  EXPECT_THAT(errors({"--price-defaults", "--force-text"}), HasSubstr("give one of them"));
  EXPECT_THAT(errors({"--price-defaults", "--temp", "0"}), HasSubstr("nothing to price"));
}

}  // namespace
}  // namespace paceline
