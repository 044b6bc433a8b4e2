#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/facts.hpp"
#include "trace/server_facts.hpp"
#include "trace/time.hpp"

// What a server said of a request, as it said it. Nothing here is converted: metrics/normalise
// makes passes, emissions and a tally of it.

namespace paceline::trace {

/// One streamed event as it arrived. Totals run from the request's start; absent ones were not in
/// the event.
struct Chunk {
  Nanoseconds arrived_ns = 0;         ///< our clock, at the read that completed the event
  int content_bytes = 0;              ///< of visible text in the event
  int reasoning_bytes = 0;            ///< of reasoning text in the event
  std::vector<std::int32_t> tokens;   ///< ids of this event's tokens, where the server says them
  std::optional<long> output_tokens;  ///< running total, the first token included
  std::optional<double> decode_ms;    ///< server's clock since the request's first token
  std::optional<long> offered;        ///< running total of draft tokens
  std::optional<long> accepted;       ///< running total of accepted draft tokens
};

/// A number that a server says of a request, or that its counters moved by in it.
struct Said {
  Quantity quantity = Quantity::output_tokens;
  double value = 0;            ///< of lists unused
  std::vector<double> values;  ///< of lists only
  std::string endpoint;        ///< as in "/v1/chat/completions" or "/metrics"
  std::string field;           ///< as in "timings.draft_n_accepted"
  std::string rule;            ///< how it became ours, a sentence; empty: taken as it stands
};

/// Our clock around one request.
struct Timeline {
  Nanoseconds scheduled_ns = 0;  ///< when it was due; equal to sent_ns in a closed loop
  Nanoseconds sent_ns = 0;
  std::optional<Nanoseconds> first_byte_ns;
  Nanoseconds ended_ns = 0;
};

/// What a server said of one request beside its chunks, and our clock around it.
struct Answer {
  std::string endpoint;  ///< the route that generated
  std::vector<Said> said;
  Timeline timeline;
  std::optional<int> prompt_batches;          ///< decode calls that the prompt took
  std::optional<EffectiveSampling> sampling;  ///< in force for this request
  std::vector<std::string> oddities;          ///< what was wrong and did not end it
};

/// A count with how it was had, or why nobody can say it.
struct Counted {
  std::optional<long> value;
  std::string rule;    ///< as in "groups of equal timings.predicted_ms, less the first"
  std::string reason;  ///< why it has no value; empty when it has
};

/// Counts of a request in the letters of DEFINITIONS 1, where passes were not recorded one by one,
/// and its times by either clock, in seconds.
struct Tally {
  Counted passes;              ///< F
  Counted passes_speculative;  ///< S
  Counted passes_replay;       ///< R
  Counted attempts;
  Counted generated;
  Counted offered;                        ///< D
  Counted tested;                         ///< V
  Counted accepted;                       ///< A
  Counted overshoot;                      ///< X
  Counted residual_passes;                ///< F counted independently minus F of the identity
  Counted prompt_processed;               ///< prompt tokens really decoded
  Counted prompt_cached;                  ///< prompt tokens taken from a cache
  std::vector<long> offered_at;           ///< by position; empty: unknown
  std::vector<long> accepted_at;          ///< likewise
  std::optional<double> prefill_s;        ///< the server's own; absent: not said
  std::optional<double> ttft_s;           ///< ours: from when it was due to the first token
  std::optional<double> ttfo_s;           ///< ours: to the first visible text
  std::optional<double> client_decode_s;  ///< ours: from the first token's arrival to the last's
};

}  // namespace paceline::trace
