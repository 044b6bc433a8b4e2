#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/read_facts.hpp"
#include "util/result.hpp"

namespace paceline::model {

/// One pass and the context that it runs in.
struct PassShape {
  int width = 1;       ///< tokens of the pass
  int depth = 0;       ///< tokens in the KV cache before it
  int n_ctx = 4096;    ///< cells of the cache, as allocated
  int n_ubatch = 512;  ///< most tokens computed at once; of more, weights are read again
  std::string cache_type_k = "f16";
  std::string cache_type_v = "f16";
  bool swa_full = false;  ///< layers with a window have caches of full size
  /// Different experts that the pass read in a layer, in the mean; absent: as many as one token
  /// uses, or of a wider pass what uniform routing would lead to.
  std::optional<double> experts_per_layer = {};
};

/// What a pass reads of one class.
struct BytesOfClass {
  std::string name;
  double bytes = 0;
  bool is_model = false;  ///< "uniform routing": no fact, but what independent choices come to
};

/// Bytes that a pass reads, by class, as DEFINITIONS 8 counts them; what it writes is not counted.
/// The error says which number makes no sense. Classes that it reads nothing of are left out.
util::Result<std::vector<BytesOfClass>> bytes_of_pass(const ReadFacts& facts,
                                                      const PassShape& shape);

/// The same of a drafter that takes in what its target computed in a pass of that width.
util::Result<std::vector<BytesOfClass>> bytes_of_taking_in(const ReadFacts& drafter,
                                                           const PassShape& shape);

/// The same of a draft of so many tokens; the width of the shape does not count.
util::Result<std::vector<BytesOfClass>> bytes_of_draft(const ReadFacts& drafter, int tokens,
                                                       const PassShape& shape);

/// The drafter with what it reads in its target's file as if it were its own.
ReadFacts with_borrowed(ReadFacts drafter, const ReadFacts& target);

/// Parameters that a pass of one token reads: those of the weights, rows and experts of one token.
double parameters_of_token(const ReadFacts& facts);

/// The sum over all classes.
double total_bytes(const std::vector<BytesOfClass>& classes);

}  // namespace paceline::model
