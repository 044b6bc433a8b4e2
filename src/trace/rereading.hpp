#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paceline::trace {

/// How far the logits of passes of one width are from those of single tokens, on the same text.
struct LogitDifference {
  int width = 0;            ///< tokens in each pass
  std::int64_t logits = 0;  ///< how many were compared: all of the vocabulary at every place
  double p99 = 0;           ///< 99th percentile of |difference|, at most 0.8 % too high
  double largest = 0;       ///< largest |difference|
};

/// How sure the target is of one token of a text.
struct Margin {
  std::string workload_class;
  std::string prompt_id;
  int token = 0;    ///< number of the token in the text, from 1
  double top2 = 0;  ///< its two largest logits apart, at width 1
};

/// What an engine said of texts that it read again: token by token, then in wider passes.
struct Rereading {
  std::vector<LogitDifference> widths;  ///< pooled over the texts
  std::vector<Margin> margins;          ///< at the places that were asked for
};

}  // namespace paceline::trace
