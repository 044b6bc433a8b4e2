#include <map>

#include "judged.hpp"
#include "util/files.hpp"

// Outputs of tools in their published shapes, by the ids of the collected cases; the texts are the
// fuzzer's seeds. C134, C136, C138 and C140 are about how a stream is cut and timed: net/ and
// dialect/ have their tests.

namespace paceline::claim {
namespace {

using testing::HasSubstr;

document::Claim judge_file(const std::string& name) {
  const auto text = util::read_file(PACELINE_SOURCE_DIR "/fuzz/seeds/claim_fuzz/" + name);
  EXPECT_TRUE(text);
  return judge_text(text.value_or(""));
}

struct Case {
  const char* file;
  std::size_t row;
  const char* format;
  std::map<std::string, double> figures;
  std::map<std::string, std::string> context;
};

const std::vector<Case> cases = {
    {"C101.txt",
     0,
     "llama-server",
     {{"output_tokens", 200},
      {"offered", 347},
      {"accepted", 65},
      {"decode_s", 11.082606},
      {"prompt_processed", 1},
      {"acceptance", 65.0 / 347},
      {"passes", 134}},
     {}},
    {"C102.txt",
     0,
     "llama-server",
     {{"output_tokens", 35}, {"prompt_cached", 236}, {"prompt_processed", 1}},
     {}},
    {"C104.txt",
     0,
     "llama-server",
     {{"output_tokens", 39}, {"offered", 48}, {"accepted", 14}},
     {{"build", "b9554-d403f00ec"}}},
    {"C105.txt",
     0,
     "llama.cpp log",
     {{"prompt_processed", 12}, {"prefill_s", 0.01562}, {"tokens", 783}, {"decode_s", 3.19422}},
     {}},
    {"C105.txt", 1, "llama.cpp log", {{"tokens", 275}, {"decode_s", 23.03887}}, {}},
    {"C105.txt",
     2,
     "llama.cpp log",
     {{"tokens", 192}, {"accepted", 118}, {"offered", 144}, {"acceptance", 0.81944}},
     {}},
    {"C105.txt", 3, "llama.cpp log", {{"tokens", 140}, {"tokens_per_s", 13.64}}, {}},
    {"C105.txt",
     4,
     "llama.cpp log",
     {{"accepted", 167}, {"offered", 259}, {"acceptance_length", 2.92}},
     {}},
    {"C105.txt", 5, "llama.cpp log", {{"tokens", 100}, {"tokens_per_s", 21.82}}, {}},
    {"C106.txt",
     0,
     "llama.cpp statistics",
     {{"requests", 10},
      {"passes_speculative", 727},
      {"offered", 1447},
      {"accepted", 1135},
      {"acceptance_length", 1 + 1135.0 / 727}},
     {{"drafter", "draft-mtp"}}},
    {"C109.txt", 0, "llama-bench", {{"prefill_tokens_per_s", 1200.5}}, {{"backend", "CUDA"}}},
    {"C109.txt", 1, "llama-bench", {{"tokens_per_s", 46.7}, {"tokens_per_pass", 1}}, {}},
    {"C109.txt",
     3,
     "llama-bench",
     {{"tokens_per_s", 20.1}, {"depth", 512}},
     {{"kv_type", "q8_0"}, {"model", "qwen3 27B Q8_0"}, {"build", "88a3927 (4567)"}}},
    {"C110.txt", 0, "llama-bench", {{"prefill_tokens_per_s", 1280}, {"depth", 0}}, {}},
    {"C110.txt",
     1,
     "llama-bench",
     {{"tokens_per_s", 20.1}, {"depth", 4096}},
     {{"build", "88a3927"}}},
    {"C112.txt",
     0,
     "llama-bench",
     {{"tokens_per_s", 47}, {"file_bytes", 2497280256}},
     {{"backend", "Vulkan"}}},
    {"bench.jsonl", 1, "llama-bench", {{"tokens_per_s", 20.1}, {"depth", 4096}}, {}},
    {"sql.txt", 0, "llama-bench", {{"tokens_per_s", 20.1}}, {{"build", "88a3927"}}},
    {"C113.txt",
     0,
     "batched-bench",
     {{"concurrency", 4}, {"tokens_per_s", 145.2}, {"prefill_tokens_per_s", 1753.42}},
     {}},
    {"C113.txt",
     1,
     "batched-bench",
     {{"tokens_per_s", 145.2}, {"prefill_tokens_per_s", 7003.82}},
     {}},
    {"C114.txt",
     0,
     "spec-bench",
     {{"tokens_per_s", 37.42},
      {"passes_speculative", 220},
      {"accepted", 538},
      {"offered", 660},
      {"acceptance_length", 3.45},
      {"draft_per_pass", 3}},
     {{"class", "code"}}},
    {"C114.txt",
     2,
     "speed-bench",
     {{"tokens_per_s", 66.8}, {"acceptance", 0.7557}},
     {{"class", "humanities"}}},
    {"C116.txt", 0, "llama-perplexity", {{"perplexity", 5.7427}}, {}},
    {"C116.txt", 1, "llama-perplexity", {{"perplexity", 15.919427}}, {}},
    {"C117.txt",
     0,
     "/metrics",
     {{"passes_speculative", 870}, {"offered", 2590}, {"accepted", 1670}, {"output_tokens", 2560}},
     {}},
    {"C118.txt", 0, "/metrics", {{"passes_speculative", 870}, {"accepted", 1670}}, {}},
    {"C120.txt",
     0,
     "/metrics",
     {{"passes_speculative", 30}, {"offered", 90}, {"accepted", 27}, {"acceptance_length", 1.9}},
     {}},
    {"vllm_logs.txt",
     0,
     "vLLM V0 log",
     {{"draft_limit", 3}, {"emitted", 10616}, {"passes", 4437}},
     {}},
    {"vllm_logs.txt",
     1,
     "vLLM log",
     {{"acceptance_length", 2.37},
      {"accepted", 89},
      {"offered", 975},
      {"acceptance", 0.091},
      {"tokens_per_s", 45.1}},
     {}},
    {"vllm_logs.txt", 2, "/metrics", {{"emitted", 10616}, {"offered", 13311}}, {}},
    {"C121.txt", 0, "TensorRT-LLM iterations", {{"tokens_per_pass", 2.5}}, {}},
    {"C121.txt", 1, "trtllm-bench", {{"acceptance_length", 1.81}}, {}},
    {"C121.txt", 2, "/metrics", {{"offered", 60}, {"accepted", 30}}, {}},
    {"C122.txt", 0, "SGLang log", {{"tokens_per_s", 148.64}, {"concurrency", 1}}, {}},
    {"C122.txt",
     1,
     "SGLang log",
     {{"tokens_per_s", 39.33}, {"concurrency", 32}, {"acceptance_length", 2.54}},
     {}},
    {"C124.txt", 0, "/metrics", {{"output_tokens", 500}}, {}},
    {"C125.txt",
     0,
     "bench_serving",
     {{"tokens_per_s", 410.61},
      {"peak_tokens_per_s", 113},
      {"passes_speculative", 26407},
      {"accepted", 22021},
      {"acceptance", 0.8339},
      {"seconds_per_token", 0.07014}},
     {}},
    {"C126.txt",
     0,
     "ollama",
     {{"output_tokens", 15},
      {"decode_s", 0.086},
      {"prefill_s", 0.024},
      {"tokens_per_s", 14 / 0.086}},
     {}},
    {"C129.txt",
     0,
     "lm_studio",
     {{"output_tokens", 53}, {"decode_s", 0.954}},
     {{"quant", "Q4_K_M"}}},
    {"C130.txt",
     0,
     "mlx_vlm",
     {{"passes_speculative", 30}, {"offered", 90}, {"accepted", 81}, {"acceptance_length", 3.7}},
     {}},
    {"C132.txt",
     0,
     "server log",
     {{"tokens", 57}, {"passes", 11}, {"offered", 88}, {"accepted", 36}, {"identity_gap", 10}},
     {}},
    {"C133.txt",
     0,
     "openai",
     {{"output_tokens", 42}, {"prompt_cached", 4}, {"prompt_processed", 6}},
     {}},
    {"C141.txt", 0, "openai", {{"prompt_cached", 0}}, {}},
    {"C142.txt", 1, "MTP bench", {{"acceptance", 0.9929}, {"requests", 9}}, {}},
    {"C142.txt", 2, "server log", {{"accepted", 80}, {"offered", 94}, {"passes", 47}}, {}},
    {"C142.txt", 3, "rapid-mlx /metrics", {{"attempts", 27}}, {}},
    {"speculative.txt",
     0,
     "llama-speculative",
     {{"tokens_per_s", 87.954},
      {"draft_limit", 5},
      {"offered", 260},
      {"accepted", 208},
      {"acceptance", 0.8}},
     {}},
    // Samples that the servers' own documents publish, with the steps that they count.
    {"speculating_answers.jsonl",
     0,
     "vllm",
     {{"passes", 43}, {"tokens_per_pass", 53.0 / 43}, {"accepted", 10}, {"offered", 129}},
     {}},
    {"speculating_answers.jsonl", 1, "sglang", {{"passes", 43}, {"accepted", 63}}, {}},
    {"speculating_answers.jsonl",
     2,
     "tensorrt_llm",
     {{"passes", 20}, {"tokens_per_pass", 2.5}, {"fire_rate", 1}},
     {}},
    {"aiperf.json",
     0,
     "AIPerf",
     {{"tokens_per_s", 52.5}, {"acceptance_length", 2.44}, {"acceptance", 0.48}},
     {}},
    {"guidellm.json", 0, "GuideLLM", {{"tokens_per_s", 68.67}, {"ttft_s", 0.12}}, {}},
    {"benchy.json", 0, "llama-benchy", {{"tokens_per_s", 27.6}, {"depth", 4096}}, {}},
    {"post.md",
     2,
     "table",
     {{"tokens_per_s", 84.64}, {"base_tokens_per_s", 17.98}, {"acceptance", 0.3867}},
     {{"class", "DFlash, best tuned code"}}},
    {"post.md",
     3,
     "table of tabs",
     {{"tokens_per_s", 29.3}, {"tokens_per_pass", 3.6}, {"passes_per_s", 8.1}},
     {}},
    {"post.md", 6, "table", {{"draft_limit", 15}, {"tokens_per_s", 47.2}}, {}},
};

TEST(ClaimReaders, EachKnownOutputGivesItsFields) {
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.file) + " row " + std::to_string(one.row));
    const auto claim = judge_file(one.file);
    ASSERT_LT(one.row, claim.rows.size());
    const auto& row = claim.rows[one.row];
    EXPECT_EQ(row.format, one.format);
    for (const auto& [name, expected] : one.figures)
      EXPECT_NEAR(value(row, name), expected, 1e-9 * expected) << name;
    for (const auto& [name, expected] : one.context)
      EXPECT_EQ(row.context.at(name), expected) << name;
  }
}

TEST(ClaimReaders, WhatIsNotSaidIsAbsent) {
  const auto plain = judge_file("C102.txt");  // no draft keys: speculation is off, not at 0
  for (const char* const name : {"offered", "accepted", "acceptance", "prefill_tokens_per_s"})
    EXPECT_FALSE(find(plain.rows[0], name).value) << name;
  EXPECT_TRUE(remarks(plain, "prompt_cached"));
  EXPECT_FALSE(find(judge_file("C141.txt").rows[1], "prompt_cached").value);
  EXPECT_FALSE(find(judge_file("C142.txt").rows[0], "acceptance").value);
  EXPECT_TRUE(judge_file("C108.txt").rows.empty());
  EXPECT_FALSE(find(judge_file("C109.txt").rows[4], "tokens_per_s").value);  // pp512+tg128
}

// C130: an answer that ended by itself may have sampled past its end, by a draft of unknown length.
TEST(ClaimReaders, WhereAStopTokenEndedTheOutputPassesAreBounds) {
  const auto claim = judge_file("C130.txt");
  const Found passes = find(claim.rows[0], "passes");
  EXPECT_FALSE(passes.value);
  EXPECT_EQ(passes.low, 30);
  const auto known = judge_given({"output_tokens=111,accepted=81,drafted=90,k=3,stop=eos",
                                  "output_tokens=111,accepted=81,drafted=90,k=3,stop=length"});
  EXPECT_EQ(find(known.rows[0], "passes").low, 29);
  EXPECT_EQ(find(known.rows[0], "passes").high, 29 + 4);
  EXPECT_EQ(find(known.rows[1], "passes").value, 29);
}

TEST(ClaimReaders, CountersOfAServersLifeAreNoRequest) {
  const auto claim = judge_file("C117.txt");
  EXPECT_TRUE(remarks(claim, "since_start"));
  EXPECT_FALSE(find(claim.rows[0], "passes").low);
  ASSERT_EQ(claim.rows[0].given.back().values.size(), 3U);
  EXPECT_NEAR(claim.rows[0].given.back().values[0], 700.0 / 870, 1e-9);
}

TEST(ClaimReaders, WhatIsWrongWithAnOutputIsSaid) {
  EXPECT_TRUE(remarks(judge_file("C108.txt"), "no_measurement"));
  EXPECT_TRUE(remarks(judge_file("C109.txt"), "wide_spread"));
  EXPECT_TRUE(remarks(judge_file("C109.txt"), "no_spread"));
  EXPECT_TRUE(remarks(judge_file("C109_no_rows.txt"), "no_rows"));
  EXPECT_TRUE(remarks(judge_file("C106.txt"), "since_start"));
  EXPECT_TRUE(remarks(judge_file("C128.txt"), "oddity"));
  EXPECT_TRUE(contradicts(judge_file("C125.txt"), "peak"));
  EXPECT_TRUE(contradicts(judge_file("C129.txt"), "rate"));
  EXPECT_TRUE(contradicts(judge_file("C130.txt"), "accepted"));
  EXPECT_THAT(contradictions(judge_file("C132.txt")), HasSubstr("accepted / passes + 2"));
  EXPECT_TRUE(contradicts(judge_file("vllm_logs.txt"), "definition"));
}

// C122: 1.00 tokens and 0.11 accepted fit a draft of 8 only if the target's own token is counted.
TEST(ClaimReaders, ARateThatCountsTheTargetsOwnTokenIsNamed) {
  const auto claim = judge_file("C122.txt");
  ASSERT_EQ(claim.rows[2].readings.size(), 2U);
  EXPECT_FALSE(claim.rows[2].readings[0].consistent);
  EXPECT_TRUE(claim.rows[2].readings[1].consistent);
  EXPECT_THAT(claim.rows[2].readings[1].why, HasSubstr("8.09"));
}

TEST(ClaimReaders, ColumnsOfOneTableStayInTheirRows) {
  const auto claim = judge_file("C105.txt");
  ASSERT_EQ(claim.rows.size(), 6U);
  EXPECT_FALSE(find(claim.rows[0], "accepted").value);
  EXPECT_EQ(claim.rows[4].given.back().values, (std::vector<double>{0.805, 0.632, 0.483}));
  EXPECT_EQ(claim.inputs[0].skipped, 1);  // "total time"
}

}  // namespace
}  // namespace paceline::claim
