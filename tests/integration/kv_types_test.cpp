#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/measuring_test.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "trace/trace_file.hpp"

namespace paceline {
namespace {

using support::Ended;
using support::greedy;
using support::lab_setup;
using support::WorkerProcess;
using ::testing::HasSubstr;
using trace::OutcomeKind;
using trace::SpecType;

// models/README.md: 5 layers of gated attention with 2 KV heads of 64, and one such layer for MTP.
constexpr std::uint64_t kv_elements = 2 * 64;  // of a layer and token, in K and in V each
constexpr std::uint64_t target_layers = 5;

// ggml's blocks of 32 elements: a scale of 16 bits and 32 values of 8 or 4 bits.
constexpr double f16_bytes = 2;
constexpr double q8_0_bytes = 34.0 / 32;
constexpr double q4_0_bytes = 18.0 / 32;

trace::EngineFacts facts_of(const trace::Setup& setup) {
  WorkerProcess worker;
  const auto opened = worker.open(setup);
  EXPECT_EQ(opened.outcome.kind, OutcomeKind::done) << opened.outcome.reason;
  return opened.facts.value_or(trace::EngineFacts{});
}

/// Bytes that one more token of context takes, whatever it has of recurrent state.
double bytes_per_token(trace::Setup setup) {
  setup.n_ctx = 1024;
  const auto less = facts_of(setup).memory.context_bytes;
  setup.n_ctx = 3072;
  return static_cast<double>(facts_of(setup).memory.context_bytes - less) / 2048;
}

TEST(WorkerKvTypes, size_the_targets_cache_as_ggmls_blocks_do) {
  trace::Setup setup = lab_setup(SpecType::none);
  const double elements = target_layers * kv_elements;
  EXPECT_EQ(bytes_per_token(setup), elements * 2 * f16_bytes);
  setup.kv = {"q8_0", "q8_0"};
  EXPECT_EQ(bytes_per_token(setup), elements * 2 * q8_0_bytes);
  setup.kv = {"q8_0", std::nullopt};
  EXPECT_EQ(bytes_per_token(setup), elements * (q8_0_bytes + f16_bytes));
  setup.kv = {std::nullopt, "q4_0"};
  EXPECT_EQ(bytes_per_token(setup), elements * (f16_bytes + q4_0_bytes));
}

TEST(WorkerKvTypes, size_the_drafters_cache_apart_from_the_targets) {
  trace::Setup setup = lab_setup(SpecType::draft_mtp);
  const double of_target = target_layers * kv_elements * 2 * f16_bytes;
  EXPECT_EQ(bytes_per_token(setup), of_target + kv_elements * 2 * f16_bytes);
  setup.draft_kv = {"q8_0", "q4_0"};
  EXPECT_EQ(bytes_per_token(setup), of_target + kv_elements * (q8_0_bytes + q4_0_bytes));
}

TEST(WorkerKvTypes, in_force_are_said_and_text_is_generated_with_them) {
  trace::Setup setup = lab_setup(SpecType::draft_dflash);
  setup.kv = {"q8_0", "q5_1"};
  setup.draft_kv = {std::nullopt, "q8_0"};
  WorkerProcess worker;
  const auto opened = worker.open(setup);
  ASSERT_TRUE(opened.facts) << opened.outcome.reason;
  EXPECT_EQ(opened.facts->cache_type_k, "q8_0");
  EXPECT_EQ(opened.facts->cache_type_v, "q5_1");
  EXPECT_EQ(opened.facts->draft_cache_type_k, "f16");
  EXPECT_EQ(opened.facts->draft_cache_type_v, "q8_0");
  EXPECT_TRUE(opened.facts->flash_attention) << "quantised V needs it";
  const auto report = worker.run(greedy("{\"name\": \"", 24));
  EXPECT_EQ(report.finished.outcome.kind, OutcomeKind::done) << report.finished.outcome.reason;
  EXPECT_EQ(report.residual(), 0);
  const auto plain = facts_of(lab_setup(SpecType::none));
  EXPECT_EQ(plain.cache_type_v, "f16");
  EXPECT_EQ(plain.draft_cache_type_v, "") << "there is no drafter";
}

TEST(WorkerKvTypes, that_do_not_fit_a_models_heads_are_refused_with_llama_cpps_words) {
  const support::TemporaryFolder folder;
  WorkerProcess worker;
  protocol::Invent job;
  job.architecture = "llama";
  job.shape = {{"head-dim", 48}};  // no whole number of blocks of 32
  job.destination_path = folder.path() / "m.gguf";
  ASSERT_EQ(worker.run(job).finished.outcome.kind, OutcomeKind::done);
  trace::Setup setup;
  setup.model_path = job.destination_path;
  EXPECT_TRUE(worker.open(setup).facts);
  setup.kv.k = "q8_0";
  const auto opened = worker.open(setup);
  EXPECT_EQ(opened.outcome.kind, OutcomeKind::refused);
  EXPECT_THAT(opened.outcome.reason, HasSubstr("K cache type q8_0"));
  EXPECT_THAT(opened.outcome.reason, HasSubstr("does not divide n_embd_head_k=48"));
}

TEST(WorkerMemory, by_device_adds_up_to_the_sums_and_counts_shared_weights_once) {
  const auto weights = facts_of(lab_setup(SpecType::none)).memory.model_bytes;
  for (const SpecType type : {SpecType::none, SpecType::draft_mtp, SpecType::draft_dflash}) {
    const auto memory = facts_of(lab_setup(type)).memory;
    trace::DeviceAllocation sum;
    for (const auto& device : memory.devices) {
      sum.model_bytes += device.model_bytes;
      sum.context_bytes += device.context_bytes;
      sum.compute_bytes += device.compute_bytes;
    }
    EXPECT_EQ(sum.model_bytes, memory.model_bytes);
    EXPECT_EQ(sum.context_bytes, memory.context_bytes);
    EXPECT_EQ(sum.compute_bytes, memory.compute_bytes);
    EXPECT_GT(sum.compute_bytes, 0u);
    // The MTP block has 0.935 M weights of F16 and the DFlash file is 3 MB; the target has 9.3 MB.
    EXPECT_LT(sum.model_bytes, weights + 4'000'000);
    for (const auto& device : memory.devices)
      EXPECT_TRUE(device.name != "CPU" || !device.free_after_bytes) << "all programs share it";
  }
}

/// The bytes behind "context " in a sentence; 0 without any.
std::uint64_t context_bytes_in(const std::string& text) {
  const std::string before = "more memory than there is: context ";
  const auto at = text.find(before);
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + before.size()));
}

TEST(WorkerMemory, that_no_machine_has_is_refused_with_the_bytes_it_would_take) {
  trace::Setup setup = lab_setup(SpecType::none);
  const auto state = facts_of(setup).memory.context_bytes -
                     1024 * target_layers * kv_elements * 2 * static_cast<std::uint64_t>(f16_bytes);
  WorkerProcess worker;
  setup.n_ctx = 1'000'000'000;  // a whole number of 256 tokens, to which llama.cpp rounds up
  const auto opened = worker.open(setup);
  EXPECT_EQ(opened.outcome.kind, OutcomeKind::refused);
  EXPECT_FALSE(opened.facts);
  EXPECT_EQ(context_bytes_in(opened.outcome.reason),
            1'000'000'000ull * target_layers * kv_elements * 2 * 2 + state)
      << opened.outcome.reason;
  EXPECT_THAT(opened.outcome.reason, HasSubstr("take a smaller -c"));
  setup.kv = {"q8_0", "q8_0"};
  EXPECT_EQ(context_bytes_in(worker.open(setup).outcome.reason),
            1'000'000'000ull * target_layers * kv_elements * 2 * 34 / 32 + state);
  EXPECT_EQ(worker.open(lab_setup(SpecType::none)).outcome.kind, OutcomeKind::done)
      << "the worker is none the worse for it";
}

class KvTypes : public support::MeasuringTest {};

TEST_F(KvTypes, of_a_list_are_arms_with_a_plain_one_each_and_half_the_cache) {
  const Ended ended = run({"-m",         support::lab_model("target-mtp-f16.gguf"),
                           "--arm",      "draft-mtp:3",
                           "-ctk",       "f16,q8_0",
                           "-ctv",       "q8_0",
                           "--class",    "json",
                           "--prompts",  "1",
                           "-n",         "8",
                           "-c",         "8192",
                           "-t",         "1",
                           "--launches", "1",
                           "--json",     path("report.json")});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto report = document();
  std::vector<std::string> arms;
  for (const auto& arm : report.at("arms")) arms.push_back(arm.at("name"));
  EXPECT_EQ(arms, (std::vector<std::string>{"plain@k:f16", "mtp-n3@k:f16", "plain@k:q8_0",
                                            "mtp-n3@k:q8_0"}));
  const auto& drafted = report.at("arms").at(3);
  EXPECT_EQ(drafted.at("plain"), "plain@k:q8_0");
  EXPECT_EQ(drafted.at("settings").at("cache_type_k"), "q8_0");
  EXPECT_EQ(drafted.at("settings").at("cache_type_v"), "q8_0");
  EXPECT_EQ(drafted.at("settings").at("draft_cache_type_k"), "f16");
  const auto& cost = drafted.at("workloads").at(0).at("decode").at("pass_cost_from_widths");
  EXPECT_TRUE(cost.at("value").is_number()) << "it is held against the plain arm of its types";
  const auto context = [&](std::size_t arm) {
    return report.at("memory").at("by_arm").at(arm).at("context_bytes").get<double>();
  };
  EXPECT_EQ(context(0) - context(2), 8192 * target_layers * kv_elements * (f16_bytes - q8_0_bytes));
  const auto& last = report.at("memory").at("by_arm").at(0).at("readings").back();
  EXPECT_EQ(last.at("when"), "after_run");
  EXPECT_GE(last.at("peak_bytes").get<double>(), last.at("pss_bytes").get<double>())
      << "what is shared counts in full, and a peak is no less than now";
  EXPECT_THAT(ended.output, HasSubstr("KV types"));
  EXPECT_THAT(ended.output, HasSubstr("longer than the 4096 tokens that the model was trained"));
  EXPECT_THAT(ended.output, HasSubstr("rope scaling: none"));
}

TEST_F(KvTypes, are_refused_for_a_server_that_runs_and_for_names_that_are_none) {
  EXPECT_THAT(run({"--url", "http://127.0.0.1:1", "-ctk", "q8_0"}).errors,
              HasSubstr("-ctk, -ctv, -ctkd, -ctvd"));
  const Ended named = run({"-m", support::lab_model("target-mtp-f16.gguf"), "-ctv", "q6_K"});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.errors, HasSubstr("q6_K"));
}

TEST_F(KvTypes, and_a_context_that_no_machine_has_are_a_recorded_outcome) {
  const Ended ended = run({"-m", support::lab_model("target-mtp-f16.gguf"), "--class", "json",
                           "--prompts", "1", "-n", "2", "-c", "1000000000", "-t", "1", "--launches",
                           "1", "--json", path("report.json")});
  EXPECT_NE(ended.exit_code, 0) << "nothing was measured";
  const auto outcome = document().at("outcomes").at(0);
  EXPECT_EQ(outcome.at("kind"), "refused");
  EXPECT_GT(context_bytes_in(outcome.at("reason")), 2'560'000'000'000ull - 1);
}

}  // namespace
}  // namespace paceline
