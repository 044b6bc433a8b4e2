#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/known.hpp"

// What depends on how far the context is filled and how wide a pass is.

namespace paceline::document {

/// The longest draft whose verification alone costs no more than the arm's tokens per pass bring
/// in.
struct BreakEven {
  int draft_length = 0;         ///< in tokens
  bool is_lower_bound = false;  ///< the widest pass that was timed pays too
};

struct ClassBytes {
  std::string tensor_class;
  double bytes = 0;  ///< of the mean pass
};

/// Seconds of the mean pass by what they are spent on; they add up to it.
struct PassTerms {
  double reading_s = 0;
  double gathering_s = 0;
  double computing_s = 0;
  double drafting_s = 0;
  double host_s = 0;
  std::string bound;  ///< what most of it is spent on, or "unclear"
};

/// What the passes of an arm on a class read from memory, beside what the memory gives.
struct Ceiling {
  Quantity share;                ///< ceiling seconds over measured seconds
  Quantity read_bytes_per_s;     ///< bytes that the passes read over the time they took
  Quantity bandwidth;            ///< of reads by the launch's threads, in bytes/s
  Known<double> bytes_per_pass;  ///< mean
  std::vector<ClassBytes> largest;
  bool uniform_routing = false;       ///< some bytes suppose that routers pick experts evenly
  Known<double> disk_pages_per_pass;  ///< mean; of the engine's process, whatever they hold
  Known<PassTerms> terms;
};

/// The context filled from one depth to the next on one arm, over its launches.
struct Fill {
  std::string arm;
  int depth = 0;      ///< tokens of text in the context afterwards
  Known<int> tokens;  ///< of this part
  Quantity prefill_tokens_per_s;
  Known<double> drafter_share;  ///< of the time, that the drafter's own reading took
  int launches = 0;             ///< that reached the depth
  std::vector<std::string> failures;
  Known<std::uint64_t> context_bytes;     ///< that the engine says it allocated, afterwards
  Known<std::uint64_t> compute_bytes;     ///< likewise
  Known<std::uint64_t> pss_bytes;         ///< of the engine's processes, of the first launch
  Known<std::int64_t> unaccounted_bytes;  ///< of those, what the engine does not say it allocated
};

struct Width {
  int width = 0;
  int depth = 0;
  Quantity verify_s;
  Known<double> cost;               ///< verify_s over that of width 1 on the same engine
  Known<double> acceptance_needed;  ///< share of a draft of width - 1 tokens that pays for it
  Known<double> step;               ///< verify_s over that of the next narrower width
  Known<double> draft_s;            ///< of one draft before a pass of this width
  Known<double> process_s;          ///< of the drafter's catch-up on a batch of this width
};

/// The time of passes by width on tokens that mean nothing: the machine without the text.
struct WidthCurve {
  std::string arm;
  int filled_tokens = 0;  ///< of text that the passes came behind; 0: tokens that mean nothing
  std::vector<Width> widths;
};

}  // namespace paceline::document
