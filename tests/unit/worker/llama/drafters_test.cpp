#include "worker/llama/drafters.hpp"

#include <gtest/gtest.h>

#include <random>

#include "trace/names.hpp"
#include "worker/llama/decoding.hpp"

namespace paceline::worker {
namespace {

using trace::SpecType;

trace::Setup several() {
  trace::Setup setup;
  setup.asked_first = {{SpecType::ngram_simple, {}}, {SpecType::ngram_map_k4v, {}}};
  setup.spec_type = SpecType::ngram_cache;
  return setup;
}

common_params_speculative parameters_of(const trace::Setup& setup) {
  common_params_speculative parameters;
  parameters.types.clear();
  for (const SpecType type : trace::drafters_of(setup))
    parameters.types.push_back(library_type(type));
  parameters.ngram_simple.size_n = 4;  // longer than the next one's, which so has its turn
  parameters.ngram_map_k4v.size_n = 2;
  parameters.ngram_simple.size_m = parameters.ngram_map_k4v.size_m = 4;
  return parameters;
}

/// What llama.cpp drafts when it asks by itself.
llama_tokens asked_by_library(common_speculative* library, const llama_tokens& past,
                              llama_token last) {
  llama_tokens draft;
  common_speculative_get_draft_params(library, sequence) = {.drafting = true,
                                                            .n_max = -1,
                                                            .pos0 = static_cast<int>(past.size()),
                                                            .id_last = last,
                                                            .prompt = &past,
                                                            .result = &draft};
  common_speculative_draft(library);
  return draft;
}

/// A text of few words, in which all three find something now and then.
llama_token some_token(std::mt19937& random) { return static_cast<llama_token>(random() % 6); }

TEST(Drafters, DraftAsLlamaCppDoesWhenItAsksSeveralByItself) {
  const trace::Setup setup = several();
  common_params_speculative parameters = parameters_of(setup);
  common_params_speculative first_alone = parameters;
  first_alone.types = {COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE};
  const common_speculative_ptr joint(common_speculative_init(parameters, 1));
  const common_speculative_ptr first(common_speculative_init(first_alone, 1));
  Drafters drafters;
  ASSERT_TRUE(drafters.renew(setup, parameters).has_value());
  std::mt19937 random(1);
  llama_tokens past;
  for (int i = 0; i < 20; ++i) past.push_back(some_token(random));
  common_speculative_begin(joint.get(), sequence, past);
  drafters.begin(past);
  int by_first = 0;
  int by_others = 0;
  for (int step = 0; step < 1000; ++step) {
    const llama_token last = some_token(random);
    const llama_tokens expected = asked_by_library(joint.get(), past, last);
    llama_tokens draft;
    const Drafted drafted = drafters.draft({.past = past, .last = last, .room = 100}, draft);
    ASSERT_EQ(draft, expected) << "step " << step;
    // The first keeps nothing, so that asked again it says the same.
    if (!asked_by_library(first.get(), past, last).empty()) {
      ++by_first;
      ASSERT_EQ(drafted.drafter, "ngram-simple");
      ASSERT_EQ(drafted.attempts, 1);
    } else if (!draft.empty()) {
      ++by_others;
      ASSERT_NE(drafted.drafter, "ngram-simple");
      ASSERT_EQ(drafted.attempts, drafted.drafter == "ngram-map-k4v" ? 2 : 3);
    } else {
      ASSERT_EQ(drafted.attempts, 3);
      ASSERT_EQ(drafted.drafter, "");
    }
    ASSERT_EQ(drafted.generated, static_cast<int>(draft.size()));
    const auto accepted = draft.empty() ? 0 : random() % (draft.size() + 1);
    if (!draft.empty()) {
      common_speculative_accept(joint.get(), sequence, static_cast<std::uint16_t>(accepted));
      drafters.accept(static_cast<int>(accepted));
    }
    past.push_back(last);
    past.insert(past.end(), draft.begin(), draft.begin() + static_cast<std::ptrdiff_t>(accepted));
  }
  EXPECT_GT(by_first, 50);
  EXPECT_GT(by_others, 10);
}

TEST(Drafters, CutADraftToTheRoomAndCountAllThatWasComputed) {
  trace::Setup setup;
  setup.spec_type = SpecType::ngram_simple;
  Drafters drafters;
  ASSERT_TRUE(drafters.renew(setup, parameters_of(setup)).has_value());
  const llama_tokens past = {9, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3};
  llama_tokens draft;
  const Drafted drafted = drafters.draft({.past = past, .last = 4, .room = 2}, draft);
  EXPECT_EQ(draft, (llama_tokens{5, 6}));
  EXPECT_EQ(drafted.generated, 4);
}

TEST(Drafters, KnowTheLongestDraftOfAnyAndOfTheLast) {
  const trace::Setup setup = several();
  Drafters drafters;
  EXPECT_EQ(drafters.longest(), 0);
  ASSERT_TRUE(drafters.renew(setup, parameters_of(setup)).has_value());
  EXPECT_EQ(drafters.longest(), 8) << "ngram-cache's";
  EXPECT_EQ(drafters.longest_of_last(), 8);
  trace::Setup reversed = setup;
  reversed.asked_first = {{SpecType::ngram_cache, {}}};
  reversed.spec_type = SpecType::ngram_simple;
  ASSERT_TRUE(drafters.renew(reversed, parameters_of(reversed)).has_value());
  EXPECT_EQ(drafters.longest(), 8);
  EXPECT_EQ(drafters.longest_of_last(), 4);
}

}  // namespace
}  // namespace paceline::worker
