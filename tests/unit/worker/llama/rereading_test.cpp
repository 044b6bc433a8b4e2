#include "worker/llama/rereading.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/memory_port.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "worker/llama/generation.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/loading.hpp"
#include "worker/llama/synthesis.hpp"

namespace paceline::worker {
namespace {

using support::MemoryPort;

const char* const prompt =
    " the important question arises what those measures shall be. Our institutions are";
constexpr int text_tokens = 60;

LoadedModelPtr open_plain(const std::string& path, int longest = 0) {
  trace::Setup setup = support::lab_setup(trace::SpecType::none, longest);
  setup.model_path = path;
  auto model = load(setup, {});
  if (!model) throw std::runtime_error(model.error().message);
  return std::move(*model);
}

/// What the model says greedily, token by token, with the margins that sampling saw.
struct PlainText {
  std::vector<std::int32_t> tokens;
  std::vector<double> margins;
};

PlainText write_text(LoadedModel& model) {
  protocol::Generate job = support::greedy(std::string(prompt), text_tokens);
  job.record_gaps = true;
  MemoryPort port;
  generate(model, job, port);
  PlainText text;
  for (const auto& emission : port.all<trace::Emission>()) {
    text.tokens.insert(text.tokens.end(), emission.tokens.begin(), emission.tokens.end());
    text.margins.insert(text.margins.end(), emission.top2_gaps.begin(), emission.top2_gaps.end());
  }
  return text;
}

protocol::KnownText known(std::vector<std::int32_t> tokens, std::vector<int> places) {
  protocol::KnownText text;
  text.workload_class = "prose";
  text.prompt_id = "p";
  text.prompt = prompt;
  text.tokens = std::move(tokens);
  text.places = std::move(places);
  return text;
}

trace::Rereading read(LoadedModel& model, const protocol::Reread& job) {
  MemoryPort port;
  const trace::Finished finished = reread(model, job, port);
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::done) << finished.outcome.reason;
  const auto said = port.all<trace::Rereading>();
  return said.size() == 1 ? said[0] : trace::Rereading{};
}

std::string refusal(LoadedModel& model, const protocol::Reread& job) {
  MemoryPort port;
  const trace::Finished finished = reread(model, job, port);
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::refused);
  EXPECT_TRUE(port.all<trace::Rereading>().empty());
  return finished.outcome.reason;
}

const std::string target = support::lab_model("target-mtp-f16.gguf");

// The margins come from another path: what the sampler saw while the text was written.
TEST(Rereading, FindsTheMarginsThatWritingTheTextSaw) {
  const auto model = open_plain(target);
  const PlainText text = write_text(*model);
  ASSERT_EQ(text.margins.size(), text.tokens.size());
  const std::vector<int> places = {1, 2, 17, static_cast<int>(text.tokens.size())};
  const auto said = read(*model, {{known(text.tokens, places)}, {4}});
  ASSERT_EQ(said.margins.size(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(said.margins[i].token, places[i]);
    EXPECT_EQ(said.margins[i].prompt_id, "p");
    EXPECT_NEAR(said.margins[i].top2, text.margins[static_cast<std::size_t>(places[i] - 1)], 1e-5);
  }
}

// The last token is not decoded, and what is left over behind the last whole pass not compared.
TEST(Rereading, ComparesEveryLogitOfEveryWholePass) {
  const auto model = open_plain(target);
  const PlainText text = write_text(*model);
  const auto said = read(*model, {{known(text.tokens, {})}, {4, 8}});
  ASSERT_EQ(said.widths.size(), 2u);
  const auto vocabulary = llama_vocab_n_tokens(model->vocabulary());
  const auto decoded = static_cast<std::int64_t>(text.tokens.size()) - 1;
  EXPECT_EQ(said.widths[0].logits, decoded / 4 * 4 * vocabulary);
  EXPECT_EQ(said.widths[1].logits, decoded / 8 * 8 * vocabulary);
  EXPECT_EQ(said.widths[1].width, 8);
  EXPECT_TRUE(said.margins.empty());
}

// Logits of these models spread over tens; another order of F16 sums moves them in the third place
// behind the point. A state that was not restored, or a row taken for another one, moves them by
// whole units.
TEST(Rereading, OfAnF16ModelFindsTinyDifferencesAndOfItsF32CopySmallerOnes) {
  const support::TemporaryFolder folder;
  const std::string copy = folder.path() / "f32.gguf";
  protocol::Synth job_of_copy;
  job_of_copy.source_path = target;
  job_of_copy.destination_path = copy;
  job_of_copy.quant = protocol::Quant::f32;
  MemoryPort port;
  ASSERT_TRUE(synthesize(job_of_copy, port));
  const auto half = open_plain(target);
  const PlainText text = write_text(*half);
  const protocol::Reread job{{known(text.tokens, {})}, {2, 4, 8, 16}};
  const auto of_half = read(*half, job);
  const auto of_single = read(*open_plain(copy), job);
  double half_p99 = 0;
  double single_p99 = 0;
  for (std::size_t i = 0; i < job.widths.size(); ++i) {
    EXPECT_LT(of_half.widths[i].p99, 0.05) << job.widths[i];
    EXPECT_LE(of_half.widths[i].p99, of_half.widths[i].largest);
    half_p99 = std::max(half_p99, of_half.widths[i].p99);
    single_p99 = std::max(single_p99, of_single.widths[i].p99);
  }
  EXPECT_GT(half_p99, 0);
  EXPECT_LT(single_p99, half_p99);
}

TEST(Rereading, SaysTheSameAfterAnotherText) {
  const auto model = open_plain(target);
  const PlainText text = write_text(*model);
  const protocol::Reread job{{known(text.tokens, {9})}, {8}};
  const auto first = read(*model, job);
  read(*model, {{known({text.tokens.rbegin(), text.tokens.rend()}, {})}, {3}});
  const auto again = read(*model, job);
  EXPECT_EQ(first.margins.at(0).top2, again.margins.at(0).top2);
  EXPECT_EQ(first.widths.at(0).p99, again.widths.at(0).p99);
}

TEST(Rereading, TakesPassesAsWideAsTheSetupMakesRoomFor) {
  const auto narrow = open_plain(target);
  const PlainText text = write_text(*narrow);
  const protocol::Reread job{{known(text.tokens, {})}, {33}};
  EXPECT_NE(refusal(*narrow, job).find("2 to 16"), std::string::npos);
  EXPECT_GT(read(*open_plain(target, 32), job).widths.at(0).logits, 0);
}

TEST(Rereading, RefusesWhatItCannotRead) {
  const auto model = open_plain(target);
  EXPECT_NE(refusal(*model, {{known({}, {})}, {2}}).find("empty"), std::string::npos);
  EXPECT_NE(refusal(*model, {{known({-1}, {})}, {2}}).find("token -1"), std::string::npos);
  EXPECT_NE(refusal(*model, {{known({5}, {2})}, {2}}).find("token 2"), std::string::npos);
  EXPECT_NE(refusal(*model, {{known({5}, {})}, {1}}).find("width 1"), std::string::npos);
  const auto drafting = load(support::lab_setup(trace::SpecType::draft_mtp), {}).value();
  EXPECT_NE(refusal(*drafting, {{known({5}, {})}, {2}}).find("without a drafter"),
            std::string::npos);
}

TEST(Rereading, EndsWhenItIsCancelled) {
  const auto model = open_plain(target);
  const PlainText text = write_text(*model);
  MemoryPort port;
  port.cancel_after = 5;
  const trace::Finished finished = reread(*model, {{known(text.tokens, {})}, {8}}, port);
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::cancelled);
  EXPECT_TRUE(port.all<trace::Rereading>().empty());
}

}  // namespace
}  // namespace paceline::worker
