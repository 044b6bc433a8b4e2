#pragma once

#include <map>
#include <string>

#include "trace/facts.hpp"
#include "trace/request.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::metrics {

/// What the passes of a decode window read from memory, by class of tensors (DEFINITIONS 8): the
/// target's verify batches, and under `drafter_class` drafts and what drafters take in.
struct BytesRead {
  std::map<std::string, double> by_class;
  std::map<std::string, double> rows_gathered;  ///< by the target, from tables with several rows a
                                                ///< token
  bool has_model = false;  ///< some of it supposes that routers pick experts evenly
};

inline constexpr const char* drafter_class = "drafter";

/// Sums over the passes of one request, each at its own width and depth. The error says what of the
/// files is not known.
util::Result<BytesRead> bytes_read(const trace::EngineFacts& facts, const trace::Setup& setup,
                                   const trace::Request& request);

/// The sum over all classes, and that of the drafter alone.
double total_bytes(const BytesRead& bytes);
double drafter_bytes(const BytesRead& bytes);

}  // namespace paceline::metrics
