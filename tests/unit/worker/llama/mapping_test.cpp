#include "worker/llama/mapping.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/draft_map.hpp"
#include "support/memory_port.hpp"
#include "support/worker_process.hpp"
#include "worker/llama/generation.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/loading.hpp"
#include "worker/llama/ngram_mapping.hpp"

namespace paceline::worker {
namespace {

using support::MemoryPort;
using trace::SpecType;

const char* const prompt =
    "{\n  \"name\": \"one\",\n  \"value\": 1\n},\n{\n  \"name\": \"two\",\n  \"value\": 2\n},\n{";
constexpr int text_tokens = 36;

LoadedModelPtr open_lab(const trace::Setup& setup) {
  auto model = load(setup, {});
  if (!model) throw std::runtime_error(model.error().message);
  return std::move(*model);
}

/// The passes of a request that an engine made.
trace::Request made(LoadedModel& model, const protocol::Generate& job) {
  MemoryPort port;
  const trace::Finished finished = generate(model, job, port);
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::done) << finished.outcome.reason;
  trace::Request request;
  request.passes = port.all<trace::Pass>();
  request.emissions = port.all<trace::Emission>();
  return request;
}

std::vector<std::int32_t> text_at(double temperature) {
  const auto model = open_lab(support::lab_setup(SpecType::none, 0));
  protocol::Generate job = support::greedy(std::string(prompt), text_tokens);
  job.sampling.temp = temperature;
  job.seed = 5;
  std::vector<std::int32_t> tokens;
  for (const auto& emission : made(*model, job).emissions)
    tokens.insert(tokens.end(), emission.tokens.begin(), emission.tokens.end());
  return tokens;
}

protocol::KnownText known(std::vector<std::int32_t> tokens) {
  protocol::KnownText text;
  text.prompt_id = "p";
  text.prompt = prompt;
  text.tokens = std::move(tokens);
  return text;
}

std::string passes_of(const trace::Request& request) {
  std::string text;
  for (const auto& pass : request.passes)
    text += std::to_string(pass.depth) + ":" + std::to_string(pass.offered) + "/" +
            std::to_string(pass.accepted) + "/" + std::to_string(pass.width) + " ";
  return text;
}

struct Drafter {
  const char* name;
  trace::Setup setup;
  std::vector<int> lengths;
};

std::vector<Drafter> drafters() {
  const auto with = [](SpecType type, int longest) { return support::lab_setup(type, longest); };
  trace::Setup map_k = with(SpecType::ngram_map_k, 0);
  map_k.ngram = {.size_n = 3, .size_m = 8, .min_hits = {}, .n_min = {}};
  trace::Setup simple_ngram = with(SpecType::ngram_simple, 0);
  simple_ngram.ngram = {.size_n = 2, .size_m = 8, .min_hits = {}, .n_min = {}};
  return {{"draft-simple", with(SpecType::draft_simple, 8), {3}},
          {"draft-mtp", with(SpecType::draft_mtp, 8), {1, 8}},
          {"draft-dflash", with(SpecType::draft_dflash, 7), {4, 7}},
          {"draft-eagle3", with(SpecType::draft_eagle3, 6), {6}},
          {"draft-dspark", with(SpecType::draft_dspark, 7), {7}},
          {"ngram-simple", simple_ngram, {8}},
          {"ngram-map-k", map_k, {3}}};
}

/// The laboratory target cannot undo part of a pass by itself.
bool replays(const LoadedModel& model) { return facts(model).rollback == "replay"; }

std::vector<trace::DraftMap> map_with(LoadedModel& model, const trace::Setup& setup,
                                      const std::vector<int>& lengths, protocol::KnownText text,
                                      double p_min = 0) {
  protocol::Map job;
  job.texts = {std::move(text)};
  for (const int length : lengths) job.asks.push_back({length, p_min});
  job.n_predict = text_tokens;
  MemoryPort port;
  if (trace::is_ngram(setup.spec_type)) job.setup = setup;
  job.replays = replays(model);
  const auto finished = trace::is_ngram(setup.spec_type) ? map_ngrams(&model, job, port)
                                                         : map_drafts(model, job, port);
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::done) << finished.outcome.reason;
  return port.all<trace::DraftMap>();
}

/// An engine that was opened for drafts of this length and no longer.
trace::Request really_drafted(trace::Setup setup, int length, double p_min,
                              const std::vector<std::int32_t>& text, double temperature) {
  if (trace::is_ngram(setup.spec_type))
    setup.ngram.size_m = length;
  else
    setup.draft_n_max = length;
  setup.draft_p_min = p_min;
  const auto model = open_lab(setup);
  protocol::Generate job = support::greedy(std::string(prompt), text_tokens);
  job.sampling.temp = temperature;
  job.forced_text = text;
  return made(*model, job);
}

TEST(Mapping, predicts_the_passes_of_an_engine_opened_for_that_length) {
  for (const double temperature : {0.0, 0.7}) {
    const auto text = text_at(temperature);
    for (const Drafter& drafter : drafters()) {
      if (temperature > 0 && trace::is_ngram(drafter.setup.spec_type)) continue;
      const auto model = open_lab(drafter.setup);
      const auto maps = map_with(*model, drafter.setup, drafter.lengths, known(text));
      ASSERT_EQ(maps.size(), 1u);
      EXPECT_EQ(maps[0].tokens, text);
      for (const int length : drafter.lengths) {
        if (temperature > 0 && length != drafter.lengths.back()) continue;
        const auto walked = metrics::walk(maps[0], {length, 0},
                                          {.n_predict = text_tokens, .replays = replays(*model)});
        ASSERT_TRUE(walked) << drafter.name << length;
        EXPECT_EQ(passes_of(*walked),
                  passes_of(really_drafted(drafter.setup, length, 0, text, temperature)))
            << drafter.name << " " << length << " at temperature " << temperature;
      }
    }
  }
}

TEST(Mapping, a_draft_ends_at_its_p_min_and_is_no_shorter_for_another_reason) {
  const auto text = text_at(0);
  for (const SpecType type : {SpecType::draft_mtp, SpecType::draft_dflash}) {
    const auto setup = support::lab_setup(type, 6);
    const auto model = open_lab(setup);
    const auto maps = map_with(*model, setup, {6}, known(text), 0.6);
    ASSERT_EQ(maps.size(), 1u);
    const auto walked = metrics::walk(maps[0], {6, 0.6}, {.n_predict = text_tokens});
    ASSERT_TRUE(walked);
    EXPECT_EQ(passes_of(*walked), passes_of(really_drafted(setup, 6, 0.6, text, 0)));
  }
}

TEST(Mapping, an_open_engine_drafts_shorter_when_a_request_says_so) {
  const auto text = text_at(0);
  for (const SpecType type : {SpecType::draft_mtp, SpecType::draft_dflash}) {
    const auto setup = support::lab_setup(type, 7);
    const auto model = open_lab(setup);
    protocol::Generate job = support::greedy(std::string(prompt), text_tokens);
    job.forced_text = text;
    job.drafting = trace::Drafting{4, 0};
    EXPECT_EQ(passes_of(made(*model, job)), passes_of(really_drafted(setup, 4, 0, text, 0)));
    job.drafting.reset();
    EXPECT_EQ(passes_of(made(*model, job)), passes_of(really_drafted(setup, 7, 0, text, 0)));
  }
}

TEST(Mapping, lengths_that_no_drafter_has_are_refused_or_left_out) {
  const auto setup = support::lab_setup(SpecType::draft_mtp, 3);
  const auto model = open_lab(setup);
  protocol::Map job;
  job.texts = {known({1, 2, 3})};
  const auto refusal = [&](std::vector<trace::Drafting> asks) {
    job.asks = std::move(asks);
    MemoryPort port;
    return map_drafts(*model, job, port).outcome.reason;
  };
  EXPECT_NE(refusal({{4, 0}}).find("opened for 1 to 3"), std::string::npos);
  EXPECT_NE(refusal({{3, 1.5}}).find("p-min goes from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal({}).find("No draft length"), std::string::npos);
  trace::Setup cache;
  cache.spec_type = SpecType::ngram_cache;
  const auto maps = map_with(*model, cache, {1, 2, 16}, known({1, 2, 3}));
  ASSERT_EQ(maps.at(0).asks.size(), 1u);
  EXPECT_EQ(maps[0].asks[0].drafting.n_max, 8);
}

TEST(Mapping, a_text_that_cannot_be_mapped_says_why_and_the_next_one_is) {
  const auto setup = support::lab_setup(SpecType::draft_mtp, 3);
  const auto model = open_lab(setup);
  protocol::Map job;
  job.asks = {{3, 0}};
  job.texts = {known({1}), known({1, 1 << 30}), known({1, 2, 3})};
  job.texts[2].prompt = "";
  job.texts.push_back(known({}));
  job.texts[3].text = " and so on and so on";
  MemoryPort port;
  EXPECT_EQ(map_drafts(*model, job, port).outcome.kind, trace::OutcomeKind::done);
  const auto maps = port.all<trace::DraftMap>();
  ASSERT_EQ(maps.size(), 4u);
  EXPECT_NE(maps[0].reason.find("1 tokens"), std::string::npos);
  EXPECT_NE(maps[1].reason.find("does not have"), std::string::npos);
  EXPECT_NE(maps[2].reason.find("no prompt"), std::string::npos);
  EXPECT_EQ(maps[3].reason, "");
  EXPECT_GT(maps[3].tokens.size(), 3u);
}

TEST(Mapping, n_grams_without_any_model_guess_what_a_simple_rule_splits) {
  trace::Setup setup;
  setup.spec_type = SpecType::ngram_simple;
  setup.ngram = {.size_n = 2, .size_m = {}, .min_hits = {}, .n_min = {}};
  protocol::Map job;
  job.setup = setup;
  job.asks = {{1, 0}, {2, 0}};
  job.texts = {{}};
  job.texts[0].prompt = "a b c d a b c d";
  job.texts[0].text = " a b c d a b";
  MemoryPort port;
  EXPECT_EQ(map_ngrams(nullptr, job, port).outcome.kind, trace::OutcomeKind::done);
  const auto maps = port.all<trace::DraftMap>();
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_EQ(maps[0].prompt_tokens, 8);
  EXPECT_EQ(maps[0].tokens.size(), 6u);
  ASSERT_EQ(maps[0].asks.size(), 1u);  // a draft shorter than what it looks up is never made
  // Behind " a": of "d a" before, "b c" came next; behind " d": "a b", where one more is cut off.
  EXPECT_EQ(maps[0].asks[0].places, (std::vector<int>{0, 3}));
  EXPECT_EQ(maps[0].asks[0].offered, (std::vector<int>{2, 1}));
  EXPECT_EQ(maps[0].asks[0].accepted, (std::vector<int>{2, 1}));
}

// ngram-mod forgets everything after five drafts of which little was accepted, and in a short text
// learns nothing anew.
TEST(Mapping, an_ngram_drafter_hears_what_was_accepted_on_its_way) {
  protocol::Map job;
  job.setup.spec_type = SpecType::ngram_mod;
  job.setup.ngram = {.size_n = 2, .size_m = {}, .min_hits = {}, .n_min = 1};
  job.asks = {{1, 0}};
  job.texts = {{}};
  job.texts[0].prompt = " a b a b a b a b a b a b";
  job.texts[0].text = job.texts[0].prompt + " a b a b a b a b";
  MemoryPort port;
  EXPECT_EQ(map_ngrams(nullptr, job, port).outcome.kind, trace::OutcomeKind::done);
  const auto maps = port.all<trace::DraftMap>();
  ASSERT_EQ(maps.size(), 1u);
  const std::vector<int> all(9, 1);  // 20 tokens, two a pass, and nothing is drafted for the last
  EXPECT_EQ(maps[0].asks.at(0).offered, all);
  EXPECT_EQ(maps[0].asks[0].accepted, all);
}

}  // namespace
}  // namespace paceline::worker
