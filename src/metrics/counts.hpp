#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/total.hpp"
#include "trace/request.hpp"

namespace paceline::metrics {

/// DEFINITIONS 3, for draft position i = 1..K (index i - 1).
struct PositionCounts {
  Count offered;      ///< passes that offered a token at this position
  Count reached;      ///< of those, passes that accepted every earlier position
  long accepted = 0;  ///< passes that accepted this position
};

/// What one of several drafters did, from the passes whose drafts it made.
struct DrafterTally {
  Count passes_speculative;
  Count generated;
  Count offered;
  Count tested;
  Count accepted;
};

/// Counts and times of one request, or of several pooled, in the letters of DEFINITIONS 1. What a
/// server does not say is unknown, and stays so in every sum.
struct Counts {
  long requests = 0;
  long output_tokens = 0;    ///< E, summed
  long decode_tokens = 0;    ///< sum of E - 1: tokens inside decode windows
  double decode_s = 0;       ///< T
  long bursts = 0;           ///< sum of bursts - 1: bursts of tokens inside decode windows
  Count passes;              ///< F, counted at the decode call
  Count passes_speculative;  ///< S
  Count passes_plain;        ///< P
  Count passes_replay;       ///< R
  Count passes_superseded;   ///< W
  Count attempts;
  Count generated;
  Count offered;             ///< D
  Count tested;              ///< V
  Count accepted;            ///< A, from token events
  Count accepted_in_passes;  ///< A again, from the passes; differs only when records are lost
  Count overshoot;           ///< X
  Count residual_passes;     ///< F counted minus F from the identity; zero unless a record was lost
  Seconds prefill_s;         ///< time the prompt took the engine, to the first token
  Seconds ttft_s;            ///< from when a request was due to its first token
  Seconds ttfo_s;            ///< to its first visible text
  Seconds client_decode_s;   ///< T by our own clock, of a server
  Seconds prefill_drafter_s;  ///< part of it that was the drafter's own
  Count prefill_tokens;       ///< prompt tokens really processed
  Count prefill_cached;       ///< prompt tokens taken from a cache instead
  Bytes bytes_read;           ///< from memory, by the passes
  Count disk_pages;           ///< that had to come from disk while the passes ran
  std::map<std::string, double> bytes_by_class;
  std::map<std::string, double> rows_gathered;  ///< from tables with several rows a token, by class
  bool bytes_are_modelled = false;              ///< some suppose that routers pick experts evenly
  long windows_8gram = 0;
  long windows_8gram_repeated = 0;
  std::vector<PositionCounts> positions;
  std::map<std::pair<int, int>, long> histogram;  ///< passes by (offered, accepted), S passes only
  std::map<int, long> widths;                     ///< passes by width of the decode call
  std::map<int, long> attempted_widths;           ///< of those, passes that ran a drafter
  std::map<std::string, DrafterTally>
      by_drafter;           ///< by name; "": passes that ran drafters in vain
  std::vector<long> asked;  ///< passes that ran the arm's first drafter, the second, ..
};

/// What a drafter of an arm did. What was computed in vain is the last one's: n-grams that find
/// nothing have computed nothing.
DrafterTally tally_of(const Counts& counts, const std::string& name, bool is_last);

/// The counts of one finished request. Nothing when it did not end as done, emitted no token, or
/// its clock ran backwards (then it has no rates), or a count in it is one no engine can make.
std::optional<Counts> count_request(const trace::Request& request);

/// Adds `more` to `total`: counts are pooled, never averaged.
void add(Counts& total, const Counts& more);

/// (sum E)^2 / sum E^2 over families of prompts: how many equal prompts these are worth.
double effective_prompts(const std::vector<double>& tokens_by_family);

}  // namespace paceline::metrics
