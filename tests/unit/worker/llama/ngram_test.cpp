#include "worker/llama/ngram.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common.h"
#include "trace/json.hpp"

namespace paceline::worker {
namespace {

using trace::NgramSizes;
using trace::SpecType;

NgramSizes sizes(std::optional<int> n, std::optional<int> m, std::optional<int> hits = {},
                 std::optional<int> n_min = {}) {
  return {.size_n = n, .size_m = m, .min_hits = hits, .n_min = n_min};
}

std::string text(const NgramSizes& sizes) { return util::Json(sizes).dump(); }

std::string refusal(SpecType type, const NgramSizes& asked) {
  const auto effective = effective_sizes(type, asked);
  return effective ? "was not refused" : effective.error().message;
}

// llama-server --help of v0.5.0 names these defaults.
TEST(NgramSizes, not_asked_for_are_llama_servers_defaults) {
  EXPECT_EQ(text(*effective_sizes(SpecType::ngram_simple, {})), text(sizes(12, 48, 1)));
  EXPECT_EQ(text(*effective_sizes(SpecType::ngram_map_k, {})), text(sizes(12, 48, 1)));
  EXPECT_EQ(text(*effective_sizes(SpecType::ngram_map_k4v, {})), text(sizes(12, 48, 1)));
  EXPECT_EQ(text(*effective_sizes(SpecType::ngram_mod, {})), text(sizes(24, 64, {}, 48)));
  EXPECT_EQ(text(*effective_sizes(SpecType::ngram_cache, {})), text({})) << "it has none";
}

TEST(NgramSizes, asked_for_stand_beside_the_defaults_of_the_others) {
  EXPECT_EQ(text(*effective_sizes(SpecType::ngram_map_k, sizes(3, {}))), text(sizes(3, 48, 1)));
  EXPECT_EQ(text(*effective_sizes(SpecType::ngram_mod, sizes(16, {}, {}, 0))),
            text(sizes(16, 64, {}, 0)));
}

TEST(NgramSizes, reach_the_library_under_their_type) {
  common_params_speculative parameters;
  set_sizes(SpecType::ngram_simple, sizes(4, 7, 2), parameters);
  set_sizes(SpecType::ngram_map_k, sizes(5, 9, 3), parameters);
  set_sizes(SpecType::ngram_map_k4v, sizes(6, 10, 4), parameters);
  set_sizes(SpecType::ngram_mod, sizes(17, 33, {}, 11), parameters);
  set_sizes(SpecType::ngram_cache, {}, parameters);
  EXPECT_EQ(parameters.ngram_simple.size_n, 4);
  EXPECT_EQ(parameters.ngram_simple.size_m, 7);
  EXPECT_EQ(parameters.ngram_simple.min_hits, 2);
  EXPECT_EQ(parameters.ngram_map_k.size_n, 5);
  EXPECT_EQ(parameters.ngram_map_k.size_m, 9);
  EXPECT_EQ(parameters.ngram_map_k.min_hits, 3);
  EXPECT_EQ(parameters.ngram_map_k4v.size_n, 6);
  EXPECT_EQ(parameters.ngram_map_k4v.size_m, 10);
  EXPECT_EQ(parameters.ngram_map_k4v.min_hits, 4);
  EXPECT_EQ(parameters.ngram_mod.n_match, 17);
  EXPECT_EQ(parameters.ngram_mod.n_max, 33);
  EXPECT_EQ(parameters.ngram_mod.n_min, 11);
}

TEST(NgramSizes, that_llama_server_refuses_or_that_never_draft_are_refused) {
  for (const int bad : {0, -1, 1025}) {
    EXPECT_NE(refusal(SpecType::ngram_simple, sizes(bad, {})).find("size-n of"), std::string::npos);
    EXPECT_NE(refusal(SpecType::ngram_map_k, sizes({}, bad)).find("size-m of"), std::string::npos);
    EXPECT_NE(refusal(SpecType::ngram_mod, sizes(bad, {})).find("n-match of"), std::string::npos);
  }
  EXPECT_TRUE(effective_sizes(SpecType::ngram_map_k, sizes(1024, 1024, 65535)).has_value());
  EXPECT_NE(refusal(SpecType::ngram_map_k, sizes({}, {}, 65536)).find("min-hits"),
            std::string::npos);
  EXPECT_NE(refusal(SpecType::ngram_mod, sizes({}, {}, 1)).find("no size named min-hits"),
            std::string::npos);
  EXPECT_NE(refusal(SpecType::ngram_cache, sizes(4, {})).find("no size named size-n"),
            std::string::npos);
  EXPECT_NE(refusal(SpecType::ngram_simple, sizes({}, {}, {}, 1)).find("no size named n-min"),
            std::string::npos);
  EXPECT_NE(refusal(SpecType::ngram_simple, sizes(8, 7)).find("never drafts"), std::string::npos);
  EXPECT_TRUE(effective_sizes(SpecType::ngram_simple, sizes(7, 7)).has_value());
  EXPECT_TRUE(effective_sizes(SpecType::ngram_map_k, sizes(8, 7)).has_value());
  EXPECT_NE(refusal(SpecType::ngram_mod, sizes({}, 47)).find("at least 48 and at most 47"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline::worker
