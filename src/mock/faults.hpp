#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"

namespace paceline::mock {

enum class FaultKind {
  stall,               ///< VALUE seconds of silence in mid stream; without: for ever
  cut,                 ///< the connection ends after VALUE tokens; without: half of them
  http_error,          ///< status VALUE (500) and a JSON error in place of an answer
  error_in_stream,     ///< an error object as an event after VALUE tokens (half), then the end
  malformed_json,      ///< an event that is no JSON after VALUE tokens (half); the stream goes on
  wrong_content_type,  ///< text/html over the right body
  counter_reset,       ///< all counters fall to 0 before the request
  restart,             ///< likewise, with slots forgotten, another build and another start time
  lie_accepted,        ///< says VALUE (1) more accepted than drafted
  lie_accepted_plus,   ///< says VALUE (1) more accepted than there were
  lie_count,           ///< usage says VALUE (1) tokens more than were streamed
  burst,               ///< VALUE (16) tokens in an event
  late_usage,          ///< all that follows the last token comes VALUE (1) seconds later
  other_client,        ///< somebody else makes the counters move by VALUE (10) tokens
  slow_first_byte,     ///< the head of the answer comes VALUE (1) seconds late
  never_healthy,       ///< 503 for VALUE polls of /health; without: for ever
  truncated_prompt,    ///< only VALUE tokens of the prompt are read; without: half
  cached,              ///< VALUE tokens of the prompt come from the cache; without: all but one
  heartbeats,          ///< comments and empty events between the real ones
  crash,               ///< the server's whole process is killed after VALUE tokens; without: half
  echo_key,            ///< refusals and failures repeat the Authorization that they were sent
};
inline constexpr int fault_kinds = 21;

/// A fault and the requests for text that it strikes, counted from 1.
struct Fault {
  FaultKind kind = FaultKind::stall;
  std::optional<double> value;
  long first = 1;
  bool onward = true;  ///< also those after `first`
};

/// Reads KIND[:VALUE][@N|@N+]: no @ is every request, @3 the third, @3+ from the third on.
util::Result<Fault> parse_fault(std::string_view text);

/// The words that parse_fault takes for a kind.
std::vector<std::string> fault_names();

/// The faults that strike one request.
class Struck {
 public:
  Struck() = default;
  Struck(const std::vector<Fault>& faults, long request);

  bool by(FaultKind kind) const { return find(kind) != nullptr; }
  /// Its value, or `otherwise` when it has none; nothing when it does not strike.
  std::optional<double> value(FaultKind kind, double otherwise) const;
  /// Whether it strikes without a value.
  bool bare(FaultKind kind) const;

 private:
  const Fault* find(FaultKind kind) const;
  std::vector<Fault> faults_;
};

}  // namespace paceline::mock
