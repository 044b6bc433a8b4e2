#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/server.hpp"
#include "trace/setup.hpp"
#include "trace/time.hpp"

namespace paceline::trace {

/// In the place of a token's id that a server did not say.
inline constexpr std::int32_t unknown_token = -1;

enum class PassKind { plain, speculative, replay };

/// Time of one pass by phase, in nanoseconds; only from a `synced` run.
struct Phases {
  Nanoseconds draft_ns = 0;
  Nanoseconds checkpoint_ns = 0;
  Nanoseconds verify_ns = 0;
  Nanoseconds process_ns = 0;
  Nanoseconds sample_ns = 0;
  Nanoseconds accept_ns = 0;
  Nanoseconds rollback_ns = 0;
};

/// One decode call of the target, written where the call is made (DEFINITIONS 1).
struct Pass {
  int index = 0;  ///< 0, 1, .. within the request's decode window
  PassKind kind = PassKind::plain;
  std::string drafter;           ///< spec type that made the draft; empty without a draft
  int attempts = 0;              ///< drafters that were run for it: the setup's first so many
  std::optional<int> generated;  ///< tokens the drafter computed; absent when it does not say
  int offered = 0;               ///< draft tokens in the verify batch
  int tested = 0;                ///< draft tokens the target compared, up to the first rejection
  int accepted = 0;              ///< draft tokens the target agreed with
  bool superseded = false;       ///< its own token was never counted
  int width = 1;                 ///< tokens in the decode call
  int depth = 0;                 ///< tokens in the KV cache before the call
  Nanoseconds began_ns = 0;      ///< before drafting
  Nanoseconds ended_ns = 0;      ///< after accepting and rolling back
  std::optional<Phases> phases;
  std::vector<std::int32_t> draft;  ///< the offered token ids; empty unless the job asked for them
};

/// Tokens that became output together: the first one from prefill, then those of one pass.
/// E, A and X are counted from these and never from Pass, so that a lost record shows.
struct Emission {
  int pass = -1;                     ///< index of the pass; -1 for the token made by prefill
  std::vector<std::int32_t> tokens;  ///< emitted token ids, in order, or unknown_token
  int accepted = 0;                  ///< accepted draft tokens this emission counts
  int overshoot = 0;                 ///< tokens sampled and not emitted, the target's own included
  Nanoseconds at_ns = 0;             ///< when they were known
  std::vector<double> top2_gaps;     ///< target logit gap of its two best tokens, per emitted
                                     ///< token; empty unless the job asked for them
};

/// Prompt processing of one request.
struct Prefill {
  int prompt_tokens = 0;
  int processed_tokens = 0;  ///< really decoded; cached ones excluded
  Nanoseconds began_ns = 0;
  Nanoseconds ended_ns = 0;    ///< when the first token was known
  Nanoseconds drafter_ns = 0;  ///< part of it that the drafter's own prompt processing took
};

/// Name of a class whose prompts came behind so many tokens of text: "json@4096", or the class's
/// own without any.
inline std::string class_at(const std::string& workload_class, int filled_tokens) {
  return filled_tokens == 0 ? workload_class : workload_class + "@" + std::to_string(filled_tokens);
}

/// The class in such a name.
inline std::string base_class(const std::string& name, int filled_tokens) {
  return name.substr(0, name.size() - class_at("", filled_tokens).size());
}

/// Processes of one name that are none of ours, while something ran.
struct Neighbour {
  std::string name;
  double cpu_s = 0;  ///< CPU seconds of all of them, as far as they were seen
};

/// Load of the machine while one request ran.
struct Noise {
  double steal_s = 0;                ///< CPU seconds taken by the hypervisor, all cores
  double cpu_s = 0;                  ///< CPU seconds of all cores in that time, idle included
  std::optional<double> pressure_s;  ///< seconds some task waited for a CPU; absent without PSI
  double elapsed_s = 0;              ///< wall time between the two readings
  /// Mean of the cores' clocks at both readings; absent where the system does not show them, as in
  /// most virtual machines.
  std::optional<double> clock_mhz = {};
  /// Times that a core or package throttled; absent likewise.
  std::optional<long> throttled = {};
  /// Of the engine's threads; absent: it is not on this machine.
  std::optional<long> involuntary_switches = {};
  std::optional<Neighbour> neighbour = {};  ///< the busiest other processes; absent: none was busy
};

enum class OutcomeKind {
  done,       ///< ran to its end
  cancelled,  ///< stopped by the user
  refused,    ///< the engine said no before or during the job; `reason` says why
  crashed,    ///< the engine process died; `signal` or `exit_code` say how
  timed_out,  ///< no sign of life before the deadline
  failed,     ///< a server's answer broke off or made no sense; the server may go on
};

/// How a job or a launch ended. A failure is data, not an exception.
struct Outcome {
  OutcomeKind kind = OutcomeKind::done;
  std::string reason;  ///< one sentence; empty when done
  std::optional<int> signal;
  std::optional<int> exit_code;
  std::vector<std::string> log_tail;  ///< last lines of the engine's log, after a failure
};

/// The outcome of something that did not run to its end, with the reason in one sentence.
inline Outcome ended(OutcomeKind kind, std::string reason) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = std::move(reason);
  return outcome;
}

enum class StopReason { none, limit, eos, context };

/// One prompt sent once: everything that happened, nothing derived.
struct Request {
  std::string prompt_id;
  std::string workload_class;  ///< class_at its depth
  std::string family;          ///< prompts of one family are one unit of n_eff
  int repetition = 0;
  int filled_tokens = 0;  ///< of text in the context before the prompt (Fill)
  bool warm_up = false;   ///< discarded from every figure
  bool synced = false;    ///< device synchronised after each phase; not for headline figures
  bool excluded = false;  ///< by the rule in the header; in no figure
  std::uint32_t seed = 0;
  std::optional<Drafting> drafting;  ///< absent: as the arm drafts
  Outcome outcome;
  StopReason stop = StopReason::none;
  bool eos_counted = true;  ///< a stop token, when one came, is among the emitted tokens
  Prefill prefill;
  std::vector<Pass> passes;
  std::vector<Emission> emissions;
  std::string text;
  /// Pages that the engine's process had to fetch from disk while its passes ran (major faults);
  /// absent: not known.
  std::optional<long> disk_pages = {};
  Noise noise;
  std::vector<Chunk> chunks;     ///< of a server; passes and emissions are made of them
  std::optional<Answer> answer;  ///< likewise
  std::optional<Tally> tally;    ///< likewise: it stands for counts that `passes` cannot give
};

}  // namespace paceline::trace
