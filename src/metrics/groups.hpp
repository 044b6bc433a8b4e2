#pragma once

#include <optional>
#include <vector>

#include "trace/server.hpp"

namespace paceline::metrics {

/// Tokens of a stream that became output together.
struct Group {
  trace::Nanoseconds at_ns = 0;       ///< server's clock from the first token, else ours: of the
                                      ///< first event of the first burst and the last of others
  trace::Nanoseconds arrived_ns = 0;  ///< our clock, of its first event
  long output_tokens = 0;             ///< in this group
  std::vector<std::int32_t> tokens;   ///< as many, trace::unknown_token where the id was not said
  std::optional<long> offered;        ///< draft tokens that were added with it
  std::optional<long> accepted;       ///< accepted ones likewise
  bool hidden = false;                ///< some of its tokens came without an event of their own
};

/// How the groups of a request were told apart.
enum class Grouping {
  pass_clock,  ///< events that share one server time: a group is a pass
  arrival,     ///< gaps of under a millisecond: a group is a burst, and says nothing of passes;
               ///< of a stream without longer gaps the first event is a group and the rest one
};

struct Groups {
  Grouping grouping = Grouping::arrival;
  std::vector<Group> list;  ///< the first holds the token that prefill made, and more if it must
  bool counted = false;     ///< tokens of each group are known
};

/// Groups the events of a request. `output_tokens` is its total, where that is known.
Groups group_chunks(const std::vector<trace::Chunk>& chunks, std::optional<long> output_tokens);

}  // namespace paceline::metrics
