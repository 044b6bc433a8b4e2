#include "worker/llama/generation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/memory_port.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "trace/names.hpp"
#include "util/files.hpp"
#include "worker/llama/loading.hpp"

namespace paceline::worker {
namespace {

using support::greedy;
using support::lab_setup;
using support::MemoryPort;
using trace::PassKind;
using trace::SpecType;

const char* const prompt =
    " the important question arises what those measures shall be. Our institutions are";

/// Text after it repeats its form, so that drafts are accepted whole and n-grams are found again.
const char* const json_prompt = R"(            "edge": {
              "version_added": "79"
            },
            "firefox": {
              "version_added": "63"
            },
            "firefox_android": {
              "version_added": "63"
            },
            "ie": {)";

struct Window {
  trace::Finished finished;
  std::vector<trace::Pass> passes;
  std::vector<trace::Emission> emissions;
  std::vector<int> tokens;
};

Window run(LoadedModel& model, const protocol::Generate& job) {
  MemoryPort port;
  Window window;
  window.finished = generate(model, job, port);
  window.passes = port.all<trace::Pass>();
  window.emissions = port.all<trace::Emission>();
  for (const auto& emission : window.emissions)
    window.tokens.insert(window.tokens.end(), emission.tokens.begin(), emission.tokens.end());
  return window;
}

Window run(const trace::Setup& setup, Snapshots snapshots, const protocol::Generate& job) {
  auto model = load(setup, {}, snapshots);
  if (!model) throw std::runtime_error(model.error().message);
  return run(**model, job);
}

/// F - (E - 1 + W - A + X), 0 when nothing is lost (DEFINITIONS 1).
long residual(const Window& window) {
  long expected = static_cast<long>(window.tokens.size()) - 1;
  for (const auto& emission : window.emissions) expected += emission.overshoot - emission.accepted;
  for (const auto& pass : window.passes) expected += pass.superseded ? 1 : 0;
  return static_cast<long>(window.passes.size()) - expected;
}

protocol::Generate sampled(int n_predict) {
  protocol::Generate job = greedy(std::string(prompt), n_predict);
  job.sampling.temp = 0.7;
  job.seed = 11;
  return job;
}

class Replay : public testing::TestWithParam<SpecType> {};

// Without snapshots a recurrent target cannot forget a rejected token: the accepted ones are
// decoded again from a checkpoint, in a pass that emits one token more.
TEST_P(Replay, GivesTheSameTextAsSnapshotsAndKeepsTheIdentity) {
  const trace::Setup setup = lab_setup(GetParam());
  for (const protocol::Generate& job : {greedy(std::string(prompt), 60), sampled(60)}) {
    const Window snapshots = run(setup, std::nullopt, job);
    const Window replayed = run(setup, 0u, job);
    EXPECT_EQ(snapshots.tokens, replayed.tokens);
    EXPECT_EQ(residual(snapshots), 0);
    EXPECT_EQ(residual(replayed), 0);
    const auto replays =
        std::count_if(replayed.passes.begin(), replayed.passes.end(),
                      [](const trace::Pass& pass) { return pass.kind == PassKind::replay; });
    EXPECT_GT(replays, 0);
    EXPECT_EQ(std::count_if(snapshots.passes.begin(), snapshots.passes.end(),
                            [](const auto& pass) { return pass.kind == PassKind::replay; }),
              0);
  }
}

TEST_P(Replay, OffersNothingAndEmitsTheAcceptedTokensAndTwoMore) {
  const Window replayed = run(lab_setup(GetParam()), 0u, sampled(60));
  for (const auto& emission : replayed.emissions) {
    if (emission.pass < 0) continue;
    const trace::Pass& pass = replayed.passes[static_cast<std::size_t>(emission.pass)];
    if (pass.kind != PassKind::replay) continue;
    const trace::Pass& failed = replayed.passes[static_cast<std::size_t>(emission.pass) - 1];
    ASSERT_EQ(failed.kind, PassKind::speculative);
    EXPECT_LT(failed.accepted, failed.offered);
    EXPECT_EQ(failed.depth, pass.depth);
    EXPECT_EQ(pass.offered, 0);
    EXPECT_EQ(pass.attempts, 0);
    EXPECT_EQ(pass.width, failed.accepted + 2);
    EXPECT_EQ(emission.accepted, failed.accepted);
    EXPECT_EQ(static_cast<int>(emission.tokens.size()) + emission.overshoot, failed.accepted + 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Generation, Replay,
                         testing::Values(SpecType::draft_dflash, SpecType::draft_dspark,
                                         SpecType::draft_mtp, SpecType::draft_eagle3),
                         [](const auto& instance) {
                           const std::string name = util::enum_name(instance.param);
                           return name.substr(std::string("draft-").size());
                         });

long count(const Window& window, PassKind kind) {
  return std::count_if(window.passes.begin(), window.passes.end(),
                       [kind](const trace::Pass& pass) { return pass.kind == kind; });
}

std::vector<int> offered(const Window& window) {
  std::vector<int> counts;
  for (const auto& pass : window.passes) counts.push_back(pass.offered);
  return counts;
}

/// Small sizes, so that short texts are looked up and drafted from.
trace::Setup ngram_setup(SpecType type) {
  trace::Setup setup = lab_setup(type);
  setup.ngram = {.size_n = 4, .size_m = 7, .min_hits = {}, .n_min = {}};
  if (type == SpecType::ngram_mod)
    setup.ngram = {.size_n = 8, .size_m = 16, .min_hits = {}, .n_min = 2};
  if (type == SpecType::ngram_cache) setup.ngram = {};
  return setup;
}

/// Up to the first difference; past it two equally good texts have nothing in common.
void expect_same_but_for_a_near_tie(const Window& window, const Window& plain) {
  const auto [ours, theirs] = std::mismatch(window.tokens.begin(), window.tokens.end(),
                                            plain.tokens.begin(), plain.tokens.end());
  if (theirs == plain.tokens.end()) return;
  std::vector<double> gaps;
  for (const auto& emission : plain.emissions)
    gaps.insert(gaps.end(), emission.top2_gaps.begin(), emission.top2_gaps.end());
  // Batches of different widths round differently, by about 0.001 in these models' logits.
  EXPECT_LT(gaps.at(static_cast<std::size_t>(theirs - plain.tokens.begin())), 0.01);
}

class Untrained : public testing::TestWithParam<SpecType> {
 protected:
  static trace::Setup setup() {
    return trace::is_ngram(GetParam()) ? ngram_setup(GetParam()) : lab_setup(GetParam());
  }
  static protocol::Generate job() { return greedy(std::string(json_prompt), 120); }
};

TEST_P(Untrained, DrafterGivesThePlainTextAndKeepsTheIdentity) {
  const Window plain = run(lab_setup(SpecType::none), std::nullopt, job());
  const Window window = run(setup(), std::nullopt, job());
  ASSERT_EQ(window.finished.outcome.kind, trace::OutcomeKind::done);
  EXPECT_EQ(window.tokens.size(), 120u);
  EXPECT_EQ(residual(window), 0);
  EXPECT_GT(count(window, PassKind::speculative), 0);
  EXPECT_LT(window.passes.size(), plain.passes.size()) << "some drafts must be accepted";
  expect_same_but_for_a_near_tie(window, plain);
}

// llama-server keeps no snapshots for these types, so the recurrent target replays.
TEST_P(Untrained, DrafterReplaysOnARecurrentTargetUnlessSnapshotsAreKept) {
  const Window replayed = run(setup(), std::nullopt, job());
  // 3 is llama-server's default for draft-simple.
  const int n_max = GetParam() == SpecType::ngram_cache ? trace::ngram_cache_draft
                                                        : setup().ngram.size_m.value_or(3);
  const Window snapshots = run(setup(), static_cast<unsigned>(n_max), job());
  EXPECT_GT(count(replayed, PassKind::replay), 0);
  EXPECT_EQ(count(snapshots, PassKind::replay), 0);
  EXPECT_EQ(residual(snapshots), 0);
  expect_same_but_for_a_near_tie(snapshots, replayed);
}

TEST_P(Untrained, DrafterOffersWhatItComputedAsFarAsTheOutputHasRoom) {
  int emitted = 1;
  const Window window = run(setup(), std::nullopt, job());
  for (const auto& pass : window.passes) {
    const int room = job().n_predict - emitted - 1;
    if (pass.attempts > 0) {
      EXPECT_EQ(pass.offered, std::min(pass.generated.value(), room));
    }
    EXPECT_EQ(pass.drafter, pass.offered > 0 ? util::enum_name(GetParam()) : "");
    for (const auto& emission : window.emissions)
      if (emission.pass == pass.index) emitted += static_cast<int>(emission.tokens.size());
  }
}

// llama.cpp cuts a draft to the room before anybody can count it, if it is told of the room.
TEST(Generation, AnNgramDraftThatTheEndOfTheOutputCutsIsCountedWhole) {
  trace::Setup setup = ngram_setup(SpecType::ngram_mod);
  setup.ngram.n_min = 8;  // it never computes fewer
  int cut = 0;
  for (int length = 60; length < 120; length += 5)
    for (const auto& pass :
         run(setup, std::nullopt, greedy(std::string(json_prompt), length)).passes) {
      const int generated = pass.generated.value_or(0);
      EXPECT_TRUE(generated == 0 || generated >= 8) << generated;
      cut += pass.offered < generated ? 1 : 0;
    }
  EXPECT_GT(cut, 0);
}

TEST_P(Untrained, DrafterForgetsTheRequestBefore) {
  auto model = load(setup(), {});
  ASSERT_TRUE(model.has_value());
  const Window first = run(**model, job());
  const Window second = run(**model, job());
  EXPECT_EQ(offered(first), offered(second));
  EXPECT_EQ(first.tokens, second.tokens);
}

INSTANTIATE_TEST_SUITE_P(Generation, Untrained,
                         testing::Values(SpecType::draft_simple, SpecType::ngram_simple,
                                         SpecType::ngram_map_k, SpecType::ngram_map_k4v,
                                         SpecType::ngram_mod, SpecType::ngram_cache),
                         [](const auto& instance) {
                           std::string name = util::enum_name(instance.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Generation, AnNgramDrafterThatFindsNothingIsAnAttemptAndAPlainPass) {
  trace::Setup setup = lab_setup(SpecType::ngram_simple);  // looks up 12 tokens, which is rare
  const Window window = run(setup, std::nullopt, sampled(30));
  for (const auto& pass : window.passes) {
    EXPECT_EQ(pass.kind, PassKind::plain);
    EXPECT_EQ(pass.generated.value_or(0), 0);
    EXPECT_EQ(pass.generated.has_value(), pass.attempts == 1) << "known to be nothing";
    EXPECT_EQ(pass.drafter, "");
  }
  // Of the 29 passes the last has no room for a draft, so the drafter is not asked.
  EXPECT_EQ(std::count_if(window.passes.begin(), window.passes.end(),
                          [](const auto& pass) { return pass.attempts == 1; }),
            28);
}

TEST(Generation, AWarmSessionDraftsFromEarlierAnswersAndAResetOneDoesNot) {
  const auto model = load(ngram_setup(SpecType::ngram_mod), {}).value();
  protocol::Generate job = sampled(60);
  job.warm_session = true;
  const Window first = run(*model, job);
  const Window second = run(*model, job);
  const auto total = [](const Window& window) {
    const auto counts = offered(window);
    return std::accumulate(counts.begin(), counts.end(), 0);
  };
  EXPECT_GE(total(second), total(first) + 16) << "its own earlier answer is in the table";
  job.warm_session = false;
  EXPECT_EQ(total(run(*model, job)), total(first));
}

class Forced : public testing::TestWithParam<SpecType> {
 protected:
  static trace::Setup setup(std::vector<double> rates) {
    trace::Setup setup = lab_setup(GetParam(), static_cast<int>(rates.size()));
    setup.forced = trace::ForcedAcceptance{.length = {}, .schedule = {}, .rates = std::move(rates)};
    return setup;
  }
};

// Rates of 0 and 1 leave nothing to chance.
TEST_P(Forced, AcceptsWhatIsAskedForWhateverTheTargetThinks) {
  for (const Snapshots snapshots : {Snapshots{}, Snapshots{0}}) {
    const Window window = run(setup({1, 1, 0}), snapshots, greedy(std::string(prompt), 60));
    EXPECT_EQ(residual(window), 0);
    EXPECT_GT(count(window, PassKind::speculative), 10);
    for (const trace::Pass& pass : window.passes) {
      if (pass.kind != PassKind::speculative || pass.offered < 3) continue;
      EXPECT_EQ(pass.accepted, 2);
      EXPECT_EQ(pass.tested, 3);
    }
    for (std::size_t i = 1; i + 2 < window.emissions.size(); ++i)
      EXPECT_EQ(window.emissions[i].accepted, 2) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Generation, Forced,
                         testing::Values(SpecType::draft_dflash, SpecType::draft_simple,
                                         SpecType::draft_mtp),
                         [](const auto& instance) {
                           const std::string name = util::enum_name(instance.param);
                           return name.substr(std::string("draft-").size());
                         });

// Tokens of a pass with a full draft, in the mean; those of the last passes may be cut.
TEST(Generation, ForcedToALengthYieldsItInTheMean) {
  trace::Setup setup = lab_setup(SpecType::draft_mtp, 4);
  setup.forced = trace::ForcedAcceptance{.length = 3, .schedule = {}, .rates = {}};
  auto model = load(setup, {}).value();
  std::vector<double> tokens;
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    protocol::Generate job = greedy(std::string(prompt), 200);
    job.seed = seed;
    for (const trace::Pass& pass : run(*model, job).passes)
      if (pass.offered == 4) tokens.push_back(pass.accepted + 1);
  }
  ASSERT_GT(tokens.size(), 400u);
  const auto count = static_cast<double>(tokens.size());
  const double mean = std::accumulate(tokens.begin(), tokens.end(), 0.0) / count;
  double squares = 0;
  for (const double one : tokens) squares += (one - mean) * (one - mean);
  const double error = std::sqrt(squares) / count;
  EXPECT_NEAR(mean, 3, 3.5 * error);
  EXPECT_LT(error, 0.1);
}

/// Every way to draft, with sizes that make short texts drafted from.
trace::Setup drafting_setup(SpecType type) {
  return trace::is_ngram(type) ? ngram_setup(type) : lab_setup(type);
}

struct Acceptance {
  int offered = 0;
  int accepted = 0;
  int width = 0;
  auto operator<=>(const Acceptance&) const = default;
};

std::vector<Acceptance> acceptance(const Window& window) {
  std::vector<Acceptance> passes;
  for (const auto& pass : window.passes)
    passes.push_back({pass.offered, pass.accepted, pass.width});
  return passes;
}

class AlongAText : public testing::TestWithParam<SpecType> {};

// What the target itself decides greedily is the check: its own text is followed at a temperature
// at which it would say another one.
TEST_P(AlongAText, AcceptsOfAGreedyTextWhatAGreedyRunAccepts) {
  for (const Snapshots snapshots : {Snapshots{}, Snapshots{0}}) {
    protocol::Generate job = greedy(std::string(json_prompt), 100);
    const Window own = run(drafting_setup(GetParam()), snapshots, job);
    job.forced_text.assign(own.tokens.begin(), own.tokens.end());
    job.sampling.temp = 1.5;
    job.seed = 3;
    const Window followed = run(drafting_setup(GetParam()), snapshots, job);
    EXPECT_EQ(followed.tokens, own.tokens);
    EXPECT_EQ(acceptance(followed), acceptance(own));
    EXPECT_EQ(residual(followed), 0);
    EXPECT_GT(count(own, PassKind::speculative), 0);
  }
}

TEST_P(AlongAText, SaysATextThatPlainSampledTokenByToken) {
  const Window plain = run(lab_setup(SpecType::none), std::nullopt, sampled(60));
  protocol::Generate job = sampled(60);
  job.forced_text.assign(plain.tokens.begin(), plain.tokens.end());
  job.seed = 12;
  for (const Snapshots snapshots : {Snapshots{}, Snapshots{0}}) {
    const Window followed = run(drafting_setup(GetParam()), snapshots, job);
    EXPECT_EQ(followed.tokens, plain.tokens);
    EXPECT_EQ(residual(followed), 0);
    for (const auto& pass : followed.passes) EXPECT_FALSE(pass.superseded);
  }
}

INSTANTIATE_TEST_SUITE_P(Generation, AlongAText,
                         testing::Values(SpecType::draft_dflash, SpecType::draft_mtp,
                                         SpecType::draft_simple, SpecType::ngram_simple,
                                         SpecType::ngram_mod),
                         [](const auto& instance) {
                           std::string name = util::enum_name(instance.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Generation, GoesOnByItselfBehindTheEndOfATextToFollow) {
  const Window own = run(lab_setup(SpecType::none), std::nullopt, greedy(std::string(prompt), 40));
  protocol::Generate job = greedy(std::string(prompt), 40);
  job.forced_text.assign(own.tokens.begin(), own.tokens.begin() + 10);
  EXPECT_EQ(run(lab_setup(SpecType::none), std::nullopt, job).tokens, own.tokens);
}

TEST(Generation, RefusesToFollowATextWhileAcceptanceIsForcedOrWithTokensThatAreNone) {
  trace::Setup setup = lab_setup(SpecType::draft_mtp, 3);
  protocol::Generate job = greedy(std::string(prompt), 8);
  job.forced_text = {1'000'000'000};
  EXPECT_NE(run(setup, std::nullopt, job).finished.outcome.reason.find("token 1000000000"),
            std::string::npos);
  setup.forced = trace::ForcedAcceptance{.length = 2, .schedule = {}, .rates = {}};
  job.forced_text = {5};
  EXPECT_NE(run(setup, std::nullopt, job).finished.outcome.reason.find("by chance"),
            std::string::npos);
}

TEST(Generation, ACancelBetweenPassesKeepsWhatWasEmitted) {
  auto model = load(lab_setup(SpecType::none), {});
  ASSERT_TRUE(model.has_value());
  MemoryPort port;
  port.cancel_after = 5;
  const trace::Finished finished = generate(**model, greedy(std::string(prompt), 60), port);
  EXPECT_EQ(finished.outcome.kind, trace::OutcomeKind::cancelled);
  EXPECT_FALSE(finished.disk_pages) << "nobody counted to the end";
  EXPECT_EQ(finished.stop, trace::StopReason::none);
  EXPECT_EQ(port.all<trace::Pass>().size(), 5u);
  EXPECT_EQ(port.all<trace::Emission>().size(), 6u);
}

/// The laboratory target with another token as its end of text.
std::string target_ending_with(std::int32_t token, const support::TemporaryFolder& folder) {
  std::string bytes = util::read_file(support::lab_model("target-mtp-f16.gguf")).value();
  const std::string key = "tokenizer.ggml.eos_token_id";
  // In a GGUF file a key is followed by its type and, for this one, by a 32-bit number.
  std::memcpy(bytes.data() + bytes.find(key) + key.size() + 4, &token, sizeof token);
  const std::string path = folder.path() / "target.gguf";
  if (!util::write_file(path, bytes)) throw std::runtime_error("cannot write " + path);
  return path;
}

/// Where a token stands for the first time that is not the last one of its pass.
std::optional<std::size_t> first_new_token_before_others(const Window& window) {
  std::size_t at = 0;
  for (const auto& emission : window.emissions)
    for (std::size_t i = 0; i < emission.tokens.size(); ++i, ++at) {
      const auto here = window.tokens.begin() + static_cast<std::ptrdiff_t>(at);
      const bool is_last = i + 1 == emission.tokens.size();
      if (!is_last && std::find(window.tokens.begin(), here, *here) == here) return at;
    }
  return std::nullopt;
}

TEST(Generation, AnEndTokenIsEmittedAndWhatWasSampledAfterItIsOvershoot) {
  const support::TemporaryFolder folder;
  trace::Setup setup = lab_setup(SpecType::draft_dflash);
  const Window endless = run(setup, std::nullopt, greedy(std::string(json_prompt), 40));
  const auto end_at = first_new_token_before_others(endless);
  ASSERT_TRUE(end_at.has_value());
  const std::int32_t end = endless.tokens[*end_at];
  setup.model_path = target_ending_with(end, folder);
  const Window ended = run(setup, std::nullopt, greedy(std::string(json_prompt), 40));
  EXPECT_EQ(ended.finished.stop, trace::StopReason::eos);
  EXPECT_TRUE(ended.finished.eos_counted);
  EXPECT_TRUE(ended.finished.disk_pages.has_value());
  EXPECT_THAT(ended.tokens, testing::ElementsAreArray(endless.tokens.data(), *end_at + 1));
  EXPECT_EQ(residual(ended), 0);
  const trace::Emission& last = ended.emissions.back();
  const trace::Emission& whole = endless.emissions[ended.emissions.size() - 1];
  EXPECT_GT(last.overshoot, 0);
  EXPECT_EQ(last.tokens.size() + static_cast<std::size_t>(last.overshoot), whole.tokens.size());
  EXPECT_EQ(last.accepted, whole.accepted);
}

}  // namespace
}  // namespace paceline::worker
