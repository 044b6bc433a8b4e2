#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "document/json.hpp"
#include "metrics/summary.hpp"
#include "support/measuring_test.hpp"
#include "support/worker_process.hpp"
#include "trace/trace_file.hpp"

namespace paceline {
namespace {

using support::lab_model;
using ::testing::HasSubstr;

class Tuning : public support::MeasuringTest {
 protected:
  support::Ended tune(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"tune",       "--draft",
                                          "-m",         lab_model("target-mtp-f16.gguf"),
                                          "--class",    "json",
                                          "--prompts",  "2",
                                          "-n",         "32",
                                          "--launches", "1",
                                          "-t",         "1",
                                          "--json",     path("t.json"),
                                          "--trace",    path("t.jsonl")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::run_program(home(), arguments);
  }

  /// What docs/tune.schema.json has against the document; empty when nothing.
  std::string schema_errors() {
    const std::string source = PACELINE_SOURCE_DIR;
    const std::string command = "python3 '" + source + "/tests/support/validate_json.py' '" +
                                source + "/docs/tune.schema.json' '" + path("t.json") + "' > '" +
                                path("said.txt") + "' 2>&1";
    const int status = std::system(command.c_str());
    return status == 0 ? "" : "invalid: " + util::read_file(path("said.txt")).value_or("");
  }
};

TEST_F(Tuning, every_length_is_predicted_and_the_best_is_measured_on_fresh_prompts) {
  const auto ended = tune({"--arm", "draft-mtp:5", "--fresh-prompts", "1"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(schema_errors(), "");
  const auto json = document("t.json");
  // One text in one launch with five lengths: each request made the passes that the map says.
  EXPECT_EQ(json["check"]["requests"], 5);
  EXPECT_EQ(json["check"]["requests_equal"], 5) << json["check"].dump();
  ASSERT_EQ(json["classes"].size(), 1u);
  const auto& ways = json["classes"][0]["ways"];
  ASSERT_EQ(ways.size(), 7u);  // plain, five lengths and the oracle
  EXPECT_EQ(ways[0]["arm"], "plain");
  EXPECT_EQ(ways[0]["tokens_per_pass"]["value"], 1.0);
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(ways[i]["draft_n_max"], i);
    EXPECT_GE(ways[i]["tokens_per_pass"]["value"].get<double>(), 1);
  }
  const std::string best = json["best"];
  bool confirmed = false;
  for (const auto& row : json["confirmed"]) confirmed |= row["arm"] == best;
  EXPECT_TRUE(confirmed) << best;
  EXPECT_THAT(ended.output, HasSubstr("Only what is confirmed is a result"));
}

TEST_F(Tuning, where_greedy_texts_loop_no_length_is_best_and_nothing_is_confirmed) {
  const auto ended = tune({"--arm", "draft-mtp:1", "--temp", "0", "--fresh-prompts", "1"});
  EXPECT_EQ(ended.exit_code, 4) << ended.errors;
  EXPECT_EQ(schema_errors(), "");
  EXPECT_THAT(std::string(document("t.json")["best"]["reason"]), HasSubstr("class json loops"));
  EXPECT_THAT(ended.output, HasSubstr("nothing was confirmed"));
}

TEST_F(Tuning, everything_but_the_confirmation_can_be_made_again_from_the_trace) {
  const auto ended =
      tune({"--arm", "draft-dflash:3:" + lab_model("dflash-f16.gguf"), "--fresh-prompts", "0"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto trace = trace::read_trace(util::read_file(path("t.jsonl")).value_or(""));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto run = metrics::predict_run(*trace);
  const auto again = document::to_tune(*trace, metrics::equal_mix(run.trace));
  EXPECT_EQ(util::parse_json(document::to_json_text(again), "again").value_or(util::Json()), [&] {
    auto json = document("t.json");
    json["notes"].erase(json["notes"].size() - 1);  // that nothing was confirmed
    return json;
  }());
}

TEST_F(Tuning, texts_of_ones_own_are_predicted_with_and_without_a_model) {
  std::ofstream(path("log.jsonl"))
      << R"({"messages": [{"role": "user", "content": "count"}], "choices": [{"message": {"content": "one two three four five six seven eight one two three four five six seven eight one two three four"}}]})"
      << "\n";
  auto ended = support::run_program(
      home(), {"predict", path("log.jsonl"), "--arm", "ngram-map-k:2/3", "--json", path("t.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(schema_errors(), "");
  auto json = document("t.json");
  EXPECT_GT(json["classes"][0]["ways"][0]["guessed"].get<double>(), 0);
  EXPECT_TRUE(json["classes"][0]["ways"][0]["tokens_per_s"]["value"].is_null());
  ended = support::run_program(
      home(), {"predict", path("log.jsonl"), "-m", lab_model("target-mtp-f16.gguf"), "--arm",
               "draft-mtp:2", "--launches", "1", "-t", "1", "--json", path("t.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_EQ(schema_errors(), "");
  json = document("t.json");
  EXPECT_EQ(json["classes"][0]["ways"].size(), 4u);
  EXPECT_GT(json["classes"][0]["ways"][1]["tokens_per_s"]["value"].get<double>(), 0);
  EXPECT_EQ(json["check"]["requests"], json["check"]["requests_equal"]);
}

TEST_F(Tuning, what_cannot_be_mapped_is_refused_with_the_way_out) {
  struct Case {
    std::vector<std::string> more;
    const char* says;
  };
  const Case cases[] = {
      {{}, "there is no drafter to ask"},
      {{"--arm", "ngram-simple:4/7+draft-mtp:3"}, "name them one by one"},
      {{"--spec-type", "draft-mtp", "--force-text"}, "--force-text"},
      {{"--spec-type", "draft-mtp", "--spec-draft-p-min", "0.5"}, "--p-min 0,0.5"},
  };
  for (const auto& one : cases) {
    const auto ended = tune(one.more);
    EXPECT_EQ(ended.exit_code, 2) << one.says;
    EXPECT_THAT(ended.errors, HasSubstr(one.says));
  }
}

}  // namespace
}  // namespace paceline
