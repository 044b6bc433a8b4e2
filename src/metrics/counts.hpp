#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/request.hpp"

namespace paceline::metrics {

/// DEFINITIONS 3, for draft position i = 1..K (index i - 1).
struct PositionCounts {
  long offered = 0;   ///< passes that offered a token at this position
  long reached = 0;   ///< of those, passes that accepted every earlier position
  long accepted = 0;  ///< passes that accepted this position
};

/// Counts and times of one request, or of several pooled, in the letters of DEFINITIONS 1.
struct Counts {
  long requests = 0;
  long output_tokens = 0;       ///< E, summed
  long decode_tokens = 0;       ///< sum of E - 1: tokens inside decode windows
  double decode_s = 0;          ///< T
  long passes = 0;              ///< F, counted at the decode call
  long passes_speculative = 0;  ///< S
  long passes_plain = 0;        ///< P
  long passes_replay = 0;       ///< R
  long passes_superseded = 0;   ///< W
  long attempts = 0;
  std::optional<long> generated = 0;  ///< absent once a pass did not say
  long offered = 0;                   ///< D
  long tested = 0;                    ///< V
  long accepted = 0;                  ///< A, from token events
  long accepted_in_passes = 0;  ///< A again, from the passes; differs only when records are lost
  long overshoot = 0;           ///< X
  double prefill_s = 0;         ///< time from sending to the first token
  double prefill_drafter_s = 0;
  long prefill_tokens = 0;  ///< prompt tokens really processed
  long windows_8gram = 0;
  long windows_8gram_repeated = 0;
  std::vector<PositionCounts> positions;
  std::map<std::pair<int, int>, long> histogram;  ///< passes by (offered, accepted), S passes only
  std::map<int, long> widths;                     ///< passes by width of the decode call
  std::map<int, long> attempted_widths;           ///< of those, passes that ran a drafter

  /// F counted minus F from the identity: F - (E - 1 + W - A + X). Zero unless a record was lost.
  long residual_passes() const;
};

/// The counts of one finished request. Nothing when it did not end as done, emitted no token, or
/// its clock ran backwards (then it has no rates), or a count in it is one no engine can make.
std::optional<Counts> count_request(const trace::Request& request);

/// Adds `more` to `total`: counts are pooled, never averaged.
void add(Counts& total, const Counts& more);

/// (sum E)^2 / sum E^2 over families of prompts: how many equal prompts these are worth.
double effective_prompts(const std::vector<double>& tokens_by_family);

}  // namespace paceline::metrics
