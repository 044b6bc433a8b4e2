#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/summary.hpp"

namespace paceline::metrics {

/// A top-2 margin under so many times the 99th percentile of |logit difference| between width 1 and
/// the width of the pass is a near tie (DEFINITIONS 9).
inline constexpr double near_tie_factor = 3;

/// A place where an arm first said something else than plain.
struct Divergence {
  std::string workload_class;
  std::string prompt_id;
  std::string plain;  ///< the arm that it is held against
  int token = 0;      ///< its number in the text, from 1
  int width = 0;      ///< of the pass that said it, as losslessness takes it; 0: not known
  std::vector<std::int32_t> plain_tokens;  ///< plain's whole text
};

/// Every place where a text of an arm first differs from plain's, of all arms of a greedy run that
/// are to be held against plain's; empty for other runs. One entry for each arm and prompt.
std::vector<Divergence> find_divergences(const trace::Trace& trace);

/// Greedy output of `arm` against that of `plain`, token for token: plain's first request of each
/// prompt against every one of the arm's, of which the first that differs counts. The width of a
/// difference is that of the pass which said it or, where that pass had one token, of the widest
/// before it, whose rows it read. Nothing unless every arm of the run was asked for temperature 0
/// and made its own text, or without a text that both have.
std::optional<Lossless> compare_texts(const trace::Trace& trace, std::string_view arm,
                                      std::string_view plain, std::string_view workload_class);

}  // namespace paceline::metrics
