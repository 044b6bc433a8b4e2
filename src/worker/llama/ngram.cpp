#include "worker/llama/ngram.hpp"

#include <limits>

#include "common.h"
#include "trace/names.hpp"
#include "util/assert.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

using trace::NgramSizes;
using trace::SpecType;

constexpr int most_tokens = 1024;  // llama-server's limit
constexpr int most_hits = std::numeric_limits<std::uint16_t>::max();

/// The settings of a type that looks n-grams up in a map of them.
common_params_speculative_ngram_map& map_of(SpecType type, common_params_speculative& parameters) {
  if (type == SpecType::ngram_simple) return parameters.ngram_simple;
  return type == SpecType::ngram_map_k ? parameters.ngram_map_k : parameters.ngram_map_k4v;
}

NgramSizes defaults(SpecType type) {
  if (type == SpecType::ngram_cache) return {};
  common_params_speculative library;
  if (type == SpecType::ngram_mod)
    return {.size_n = library.ngram_mod.n_match,
            .size_m = library.ngram_mod.n_max,
            .min_hits = std::nullopt,
            .n_min = library.ngram_mod.n_min};
  const auto& map = map_of(type, library);
  return {
      .size_n = map.size_n, .size_m = map.size_m, .min_hits = map.min_hits, .n_min = std::nullopt};
}

util::Result<void> take(SpecType type, const char* what, int low, int high,
                        const std::optional<int>& asked, std::optional<int>& value) {
  if (!asked) return {};
  if (!value) return refuse("{} has no size named {}: leave it out.", util::enum_name(type), what);
  if (*asked < low || *asked > high)
    return refuse("{} cannot run with a {} of {}: it goes from {} to {}.", util::enum_name(type),
                  what, *asked, low, high);
  value = asked;
  return {};
}

/// Sizes with which llama.cpp would look and never draft, which an arm cannot be meant to do.
util::Result<void> check_drafts(SpecType type, const NgramSizes& sizes) {
  if (type == SpecType::ngram_simple && *sizes.size_m < *sizes.size_n)
    return refuse(
        "ngram-simple never drafts with sizes {}/{}: its longest draft (size-m) must not be "
        "shorter than what it looks up (size-n).",
        *sizes.size_n, *sizes.size_m);
  if (type == SpecType::ngram_mod && *sizes.n_min > *sizes.size_m)
    return refuse("ngram-mod cannot draft at least {} and at most {} tokens: lower n-min.",
                  *sizes.n_min, *sizes.size_m);
  return {};
}

}  // namespace

util::Result<NgramSizes> effective_sizes(SpecType type, const NgramSizes& asked) {
  const bool mod = type == SpecType::ngram_mod;
  NgramSizes sizes = defaults(type);
  PACELINE_TRY(take(type, mod ? "n-match" : "size-n", 1, most_tokens, asked.size_n, sizes.size_n));
  PACELINE_TRY(take(type, mod ? "n-max" : "size-m", 1, most_tokens, asked.size_m, sizes.size_m));
  PACELINE_TRY(take(type, "min-hits", 1, most_hits, asked.min_hits, sizes.min_hits));
  PACELINE_TRY(take(type, "n-min", 0, most_tokens, asked.n_min, sizes.n_min));
  PACELINE_TRY(check_drafts(type, sizes));
  return sizes;
}

NgramSizes with_longest(NgramSizes sizes, int n_max) {
  if (sizes.size_m) sizes.size_m = n_max;
  return sizes;
}

void set_sizes(SpecType type, const NgramSizes& sizes, common_params_speculative& parameters) {
  PACELINE_ASSERT(trace::is_ngram(type));
  if (type == SpecType::ngram_mod) {
    parameters.ngram_mod.n_match = *sizes.size_n;
    parameters.ngram_mod.n_max = *sizes.size_m;
    parameters.ngram_mod.n_min = *sizes.n_min;
    return;
  }
  if (type == SpecType::ngram_cache) return;
  auto& map = map_of(type, parameters);
  map.size_n = static_cast<std::uint16_t>(*sizes.size_n);
  map.size_m = static_cast<std::uint16_t>(*sizes.size_m);
  map.min_hits = static_cast<std::uint16_t>(*sizes.min_hits);
}

}  // namespace paceline::worker
