#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "trace/trace.hpp"

namespace paceline::study {

/// 1..widest on the plain arm, and 1..its own widest on a speculating one. N-gram drafts are long,
/// rarely full and cheap: for them the widths of the plain arm have to do.
inline std::vector<int> widths_to_time(trace::SpecType type, int plain_widest, int own_widest) {
  const int widest = type == trace::SpecType::none ? plain_widest
                     : trace::is_ngram(type)       ? std::min(own_widest, plain_widest)
                                                   : own_widest;
  std::vector<int> widths(static_cast<std::size_t>(widest));
  std::iota(widths.begin(), widths.end(), 1);
  return widths;
}

/// Depth in the middle of the decode windows, judged from the warm-up just done.
inline int typical_depth(const trace::Launch& launch, int n_predict) {
  const int prompt_tokens =
      launch.requests.empty() ? 0 : launch.requests.back().prefill.prompt_tokens;
  return std::max(1, prompt_tokens + n_predict / 2);
}

}  // namespace paceline::study
