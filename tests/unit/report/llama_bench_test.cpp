#include "report/llama_bench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "util/json.hpp"

namespace paceline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Samples of 10 and 20 tokens/s at 100 tokens: 10 s and 5 s. Means 15 and 7.5 s, deviations
// 7.0710678 and 3.5355339 s.
document::Document two_arms() {
  document::Document document;
  document.created = "2026-01-02T03:04:05Z";
  document.launches.n_predict = 100;
  document.engine = document::known(document::Engine{});
  document.engine.value->build = document::known(std::string("b1-de3ff81"));
  document.engine.value->devices = {"CPU (AVX2)"};
  document.engine.value->n_batch = document::known(2048);
  document.engine.value->n_ubatch = document::known(512);
  document.engine.value->flash_attention = document::known(true);
  document.machine.processor = document::known(std::string("O'Brien \"9\", x|y"));
  document.target = document::known(document::Model{});
  document.target.value->architecture = "qwen35";
  document.target.value->file = "m.gguf";
  document.target.value->parameters = 7'000'000'000;
  document.target.value->file_type = document::known(std::string("Q8_0"));
  for (const char* type : {"none", "draft-mtp"}) {
    document::Arm arm;
    arm.name = type[0] == 'n' ? "plain" : "mtp-n3";
    arm.settings.spec_type = type;
    arm.settings.threads = document::known(4);
    arm.settings.cache_type_k = arm.settings.cache_type_v = document::known(std::string("f16"));
    document::Workload workload;
    workload.workload_class = "json";
    workload.requests = 4;
    workload.prefill.prefill_tokens = document::known(2050L);
    workload.by_launch = {{0, 10, document::known(1000.0)}, {1, 20, document::known(3000.0)}};
    arm.workloads.push_back(workload);
    document.arms.push_back(arm);
  }
  return document;
}

util::Json tests_of(const document::Document& document) {
  const auto parsed = util::parse_json(llama_bench_json(document), "rows");
  EXPECT_TRUE(parsed);
  return parsed.value_or(util::Json::array());
}

TEST(LlamaBench, gives_a_prompt_and_a_generation_row_for_each_arm) {
  const auto tests = tests_of(two_arms());
  ASSERT_EQ(tests.size(), 4U);
  const auto& prompt = tests[0];
  EXPECT_EQ(prompt["n_prompt"], 513) << "2050 / 4, rounded";
  EXPECT_EQ(prompt["n_gen"], 0);
  EXPECT_EQ(prompt["avg_ts"], 2000);
  const auto& generation = tests[1];
  EXPECT_EQ(generation["n_prompt"], 0);
  EXPECT_EQ(generation["n_gen"], 100);
  EXPECT_EQ(generation["avg_ts"], 15);
  EXPECT_NEAR(generation["stddev_ts"].get<double>(), 7.0710678, 1e-6);
  EXPECT_EQ(generation["avg_ns"], 7'500'000'000);
  EXPECT_EQ(generation["stddev_ns"], 3'535'533'906);
  EXPECT_EQ(generation["samples_ns"], util::Json({10'000'000'000, 5'000'000'000}));
  EXPECT_EQ(generation["samples_ts"], util::Json({10.0, 20.0}));
  EXPECT_EQ(generation["build_commit"], "de3ff81");
  EXPECT_EQ(generation["build_number"], 1);
  EXPECT_EQ(generation["model_type"], "qwen35 7.00B Q8_0");
  EXPECT_EQ(tests[3]["model_type"], "qwen35 7.00B Q8_0 spec mtp-n3") << "no row of llama-bench's";
  EXPECT_EQ(generation["flash_attn"], 1);
  EXPECT_EQ(generation["test_time"], "2026-01-02T03:04:05Z");
}

// test::get_fields() of llama-bench.cpp in v0.5.0, and the two lists behind them.
TEST(LlamaBench, has_its_fields_in_its_order) {
  std::vector<std::string> names;
  const auto tests = tests_of(two_arms());
  for (const auto& [name, value] : tests[0].items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"build_commit",   "build_number",
                                             "cpu_info",       "gpu_info",
                                             "backends",       "model_filename",
                                             "model_type",     "model_size",
                                             "model_n_params", "n_batch",
                                             "n_ubatch",       "n_threads",
                                             "cpu_mask",       "cpu_strict",
                                             "poll",           "type_k",
                                             "type_v",         "n_gpu_layers",
                                             "n_cpu_moe",      "split_mode",
                                             "main_gpu",       "no_kv_offload",
                                             "flash_attn",     "devices",
                                             "tensor_split",   "tensor_buft_overrides",
                                             "load_mode",      "lazy_mode",
                                             "embeddings",     "no_op_offload",
                                             "no_host",        "fit_target",
                                             "fit_min_ctx",    "n_prompt",
                                             "n_gen",          "n_depth",
                                             "test_time",      "avg_ns",
                                             "stddev_ns",      "avg_ts",
                                             "stddev_ts",      "samples_ns",
                                             "samples_ts"}));
}

TEST(LlamaBench, leaves_out_what_was_not_measured_and_says_null_where_nobody_knows) {
  auto document = two_arms();
  document.arms[0].workloads[0].by_launch = {
      {0, 10, document::not_known<double>("no prefill was timed")}};
  document.arms.pop_back();
  document.servers.resize(1);
  const auto tests = tests_of(document);
  ASSERT_EQ(tests.size(), 1U) << "no row of prompts";
  EXPECT_EQ(tests[0]["stddev_ts"], 0) << "of one sample, as llama-bench has it";
  EXPECT_TRUE(tests[0]["poll"].is_null());
  EXPECT_THAT(llama_bench_sql(document), HasSubstr("NULL"));
}

TEST(LlamaBench, tells_classes_and_depths_apart) {
  auto document = two_arms();
  auto deep = document.arms[0].workloads[0];
  deep.workload_class = "json@4096";
  deep.filled_tokens = 4096;
  document.arms[0].workloads.push_back(deep);
  const auto text = llama_bench_markdown(document);
  EXPECT_THAT(text, HasSubstr("qwen35 7.00B Q8_0 [json@4096]"));
  EXPECT_THAT(text, HasSubstr("tg100 @ d4096"));
  EXPECT_THAT(text, HasSubstr("15.00 ± 7.07"));
  EXPECT_THAT(text, HasSubstr("\nbuild: de3ff81 (1)\n"));
}

TEST(LlamaBench, quotes_what_names_hold) {
  auto document = two_arms();
  EXPECT_THAT(llama_bench_csv(document), HasSubstr("\"O'Brien \"\"9\"\", x|y\""));
  EXPECT_THAT(llama_bench_sql(document), HasSubstr("'O''Brien \"9\", x|y'"));
  document.target.value->architecture = "a|b\x1b[2J";
  EXPECT_THAT(llama_bench_markdown(document), HasSubstr("a\\|b"));
  for (const auto& text : {llama_bench_markdown(document), llama_bench_csv(document),
                           llama_bench_sql(document), llama_bench_json(document)})
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace paceline::report
