#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::trace {

/// Bytes of one class that a graph read, by the names that model::ReadFacts has.
struct ClassRead {
  std::string name;
  std::uint64_t bytes = 0;
};

/// What was computed when the bytes were counted.
enum class PassPart {
  target,     ///< a pass of the target
  taking_in,  ///< the drafter's work on what the target has computed in a pass
  draft,      ///< the drafter's work on one draft, however many decode calls that is
};

/// What one part of one pass read, as its graph's operands say.
struct ObservedPass {
  PassPart part = PassPart::target;
  int width = 0;     ///< tokens of the target's pass; of a draft those that were asked for
  int depth = 0;     ///< tokens in the KV cache before it
  int forwards = 0;  ///< decode calls
  std::vector<ClassRead> classes;
  std::optional<double> experts_per_layer;  ///< different ones, in the mean; absent: it has none
};

/// How a table was gathered from, over all tokens that the target has read.
struct ObservedTable {
  std::string name;
  std::uint64_t row_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t tokens = 0;
  std::uint64_t gathers = 0;  ///< rows read, each time counted
  std::uint64_t different_rows = 0;
  std::uint64_t on_the_same_page = 0;  ///< gathers from the 4096 bytes that the one before was from
  double pages_per_token = 0;          ///< different ones, in the mean
};

/// Which experts the tokens were sent to, over all tokens that the target has read.
struct ObservedExperts {
  int layers = 0;
  int count = 0;               ///< of one layer
  std::uint64_t picks = 0;     ///< in all layers
  std::vector<double> shares;  ///< of a layer's picks, the most picked expert first; mean of layers
};

/// The experts that real passes with a draft read in the mean, by width and whether or not the
/// draft was accepted.
struct SpeculativeUnion {
  int width = 0;
  int passes = 0;
  int offered = 0;
  int accepted = 0;
  double experts_per_layer = 0;
};

/// What was read while a text was decoded in passes of several widths.
struct Observation {
  std::vector<ObservedPass> passes;
  std::vector<ObservedTable> tables;
  std::optional<ObservedExperts> experts;     ///< absent: the target has none
  std::vector<SpeculativeUnion> speculative;  ///< likewise, or there is no drafter
};

}  // namespace paceline::trace
