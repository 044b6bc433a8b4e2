#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/measuring_test.hpp"
#include "support/server_run.hpp"
#include "support/worker_process.hpp"
#include "trace/names.hpp"

namespace paceline {
namespace {

using support::JobReport;
using support::lab_model;
using support::WorkerProcess;
using ::testing::HasSubstr;
using trace::OutcomeKind;
using trace::SpecType;

const std::string text = [] {
  std::string lines;
  for (int i = 0; i < 200; ++i)
    lines +=
        "{\"id\": " + std::to_string(i) + ", \"name\": \"item " + std::to_string(i * i) + "\"}\n";
  return lines;
}();
const std::string prompt = "{\"id\": 7, \"name\": \"";

class FilledContext : public testing::Test {
 protected:
  void open(SpecType type) {
    trace::Setup setup = support::lab_setup(type);
    setup.n_ctx = 2048;
    const auto opened = worker.open(setup);
    ASSERT_TRUE(opened.facts) << opened.outcome.reason;
  }

  std::string fill(int depth) {
    return worker.run(protocol::Fill{text, depth}).finished.outcome.reason;
  }

  JobReport on_filled(int tokens) {
    auto request = support::greedy(prompt, tokens);
    request.on_filled = true;
    request.record_gaps = true;
    JobReport report = worker.run(request);
    EXPECT_EQ(report.finished.outcome.kind, OutcomeKind::done) << report.finished.outcome.reason;
    return report;
  }

  WorkerProcess worker;
};

// One prompt of text and question in one piece is decoded by another road: no fill, no state saved.
TEST_F(FilledContext, what_follows_a_fill_is_what_follows_the_same_text_in_one_prompt) {
  for (const auto type : {SpecType::none, SpecType::draft_mtp, SpecType::draft_dflash,
                          SpecType::draft_eagle3, SpecType::draft_simple}) {
    open(type);
    ASSERT_EQ(fill(300), "");
    ASSERT_EQ(fill(700), "");
    const JobReport first = on_filled(48);
    const JobReport again = on_filled(48);
    EXPECT_EQ(first.tokens(), again.tokens()) << "the first request left something behind";
    EXPECT_EQ(first.residual(), 0);
    EXPECT_EQ(first.passes.front().depth, first.prefill->prompt_tokens);
    EXPECT_EQ(first.prefill->prompt_tokens - first.prefill->processed_tokens, 700);
    open(SpecType::none);
    ASSERT_EQ(fill(700), "");
    support::expect_same_text(on_filled(48), first.tokens(), "fill in two parts");
  }
}

TEST_F(FilledContext, the_text_is_really_below_the_request) {
  open(SpecType::none);
  ASSERT_EQ(fill(700), "");
  const auto filled = on_filled(48).tokens();
  const auto bare = worker.run(support::greedy(prompt, 48)).tokens();
  EXPECT_NE(filled, bare);
}

// The same text and question in one prompt: whoever has read all of it drafts the same.
TEST_F(FilledContext, drafters_have_read_the_text_too) {
  const std::string whole_lines = text.substr(0, text.find("{\"id\": 40,"));
  const auto drafts = [](const JobReport& report) {
    std::vector<std::vector<std::int32_t>> all;
    for (const auto& pass : report.passes) all.push_back(pass.draft);
    return all;
  };
  for (const auto type : {SpecType::draft_simple, SpecType::draft_mtp, SpecType::draft_dflash,
                          SpecType::draft_eagle3}) {
    open(type);
    const int depth = worker.run(support::greedy(whole_lines, 2)).prefill->prompt_tokens;
    auto request = support::greedy(whole_lines + prompt, 48);
    request.record_drafts = true;
    const auto in_one_prompt = drafts(worker.run(request));
    ASSERT_EQ(fill(depth), "");
    request = support::greedy(prompt, 48);
    request.on_filled = request.record_drafts = true;
    const auto on_top = drafts(worker.run(request));
    std::size_t same = 0;
    for (std::size_t i = 0; i < std::min(in_one_prompt.size(), on_top.size()); ++i)
      same += in_one_prompt[i] == on_top[i] ? 1u : 0u;
    // Batches of other sizes round differently, so that a tie can fall either way.
    EXPECT_GT(static_cast<double>(same), 0.8 * static_cast<double>(in_one_prompt.size()))
        << util::enum_name(type) << ": " << same << " of " << in_one_prompt.size();
    RecordProperty(util::enum_name(type), static_cast<int>(same));
  }
}

TEST_F(FilledContext, what_cannot_be_filled_is_refused_with_the_reason) {
  open(SpecType::none);
  auto request = support::greedy(prompt, 8);
  request.on_filled = true;
  EXPECT_THAT(worker.run(request).finished.outcome.reason, HasSubstr("fill it first"));
  EXPECT_THAT(fill(2048), HasSubstr("raise -c"));
  EXPECT_THAT(worker.run(protocol::Fill{"short", 100}).finished.outcome.reason,
              HasSubstr("tokens, and depth 100 is asked for"));
  ASSERT_EQ(fill(300), "");
  EXPECT_THAT(fill(300), HasSubstr("already"));
  EXPECT_THAT(worker.run(request).finished.outcome.reason, HasSubstr("fill it first"))
      << "a fill that failed leaves none";
  ASSERT_EQ(fill(300), "");
  EXPECT_THAT(worker.run(protocol::Fill{"another " + text, 400}).finished.outcome.reason,
              HasSubstr("another text"));
  ASSERT_EQ(fill(2000), "");
  request.n_predict = 64;
  EXPECT_THAT(worker.run(request).finished.outcome.reason, HasSubstr("need"));
}

TEST_F(FilledContext, widths_are_timed_behind_it) {
  open(SpecType::draft_mtp);
  ASSERT_EQ(fill(300), "");
  const JobReport report = worker.run(protocol::Probe{{1, 4}, 300, 2, true});
  ASSERT_EQ(report.finished.outcome.kind, OutcomeKind::done) << report.finished.outcome.reason;
  ASSERT_EQ(report.widths.size(), 2u);
  EXPECT_TRUE(report.widths[0].on_filled);
  EXPECT_EQ(report.widths[0].depth, 300);
  EXPECT_THAT(worker.run(protocol::Probe{{1}, 200, 1, true}).finished.outcome.reason,
              HasSubstr("filled to 300"));
  EXPECT_EQ(on_filled(16).residual(), 0);
}

class DepthOfRun : public support::MeasuringTest {};

TEST_F(DepthOfRun, is_a_dimension_of_every_arm_and_class) {
  const auto ended = run({"-m",          lab_model("target-mtp-f16.gguf"),
                          "--spec-type", "draft-mtp",
                          "--class",     "json,prose",
                          "--prompts",   "2",
                          "-n",          "12",
                          "--launches",  "1",
                          "-t",          "1",
                          "--depth",     "0,256,1k",
                          "--widths",    "3",
                          "--json",      path("report.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const util::Json json = document();
  for (const auto& arm : json.at("arms")) {
    EXPECT_EQ(arm.at("workloads").size(), 6u);
    for (const auto& workload : arm.at("workloads")) {
      EXPECT_EQ(workload.at("prompts"), 2);
      EXPECT_EQ(workload.at("decode").at("residual_passes").at("value"), 0);
      EXPECT_GE(workload.at("depth").at("lowest").get<int>(), workload.at("filled_tokens"));
    }
  }
  const util::Json& fills = json.at("fills");
  ASSERT_EQ(fills.size(), 4u);
  EXPECT_EQ(fills.at(1).at("tokens"), 1024 - 256);
  EXPECT_GT(fills.at(1).at("context_bytes").get<std::uint64_t>(), 0u);
  EXPECT_GT(fills.at(1).at("pss_bytes").get<std::uint64_t>(), 0u);
  EXPECT_EQ(json.at("arms").at(0).at("settings").at("n_ctx"), 4096 + 1024);
  EXPECT_THAT(ended.output, HasSubstr("By depth: tok/s"));
  EXPECT_THAT(ended.output, HasSubstr("Filling the context"));
  EXPECT_THAT(ended.output, HasSubstr("What verifying K draft tokens costs"));
}

TEST_F(DepthOfRun, fill_goes_to_the_end_of_the_context) {
  const auto ended = support::run_program(
      home(), {"fill", "-m", lab_model("target-mtp-f16.gguf"), "-c", "2048", "--class", "json",
               "--prompts", "1", "-n", "8", "-t", "1", "--json", path("report.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const util::Json json = document();
  ASSERT_EQ(json.at("fills").size(), 1u);
  EXPECT_EQ(json.at("fills").at(0).at("depth"), 2048 - 1024 - 8);
  EXPECT_EQ(json.at("arms").at(0).at("workloads").size(), 2u);
}

TEST_F(DepthOfRun, a_dry_run_says_the_plan_and_runs_nothing) {
  const auto ended = run({"-m", lab_model("target-mtp-f16.gguf"), "--depth", "0,4k", "--dry-run",
                          "--trace", path("t.jsonl")});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("x 2 depths"));
  EXPECT_FALSE(util::read_file(path("t.jsonl")));
}

TEST_F(DepthOfRun, of_a_running_server_is_text_in_front_of_every_prompt) {
  const auto refused = support::run_program(home(), {"fill", "--url", "http://127.0.0.1:9"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("name the --depths"));
  const support::MockServer server(support::known_server("llama-server", 0.0));
  const support::ServerRun server_run;
  const auto ended = server_run.on(server, {"--depths", "0,256"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const util::Json json = server_run.document();
  bool deep = false;
  for (const auto& workload : json.at("arms").at(0).at("workloads"))
    if (workload.at("filled_tokens") == 256) {
      deep = true;
      EXPECT_GT(workload.at("depth").at("lowest").get<int>(), 128);
    }
  EXPECT_TRUE(deep);
  ASSERT_EQ(json.at("fills").size(), 1u);
  EXPECT_TRUE(json.at("fills").at(0).at("prefill_tokens_per_s").at("value").is_null());
}

}  // namespace
}  // namespace paceline
