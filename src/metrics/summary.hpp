#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/ceiling.hpp"
#include "metrics/comparison.hpp"
#include "metrics/counts.hpp"
#include "metrics/estimate.hpp"
#include "metrics/fills.hpp"
#include "metrics/load.hpp"
#include "metrics/steadiness.hpp"
#include "metrics/sweep.hpp"
#include "trace/trace.hpp"
#include "util/json.hpp"

namespace paceline::metrics {

/// Mean seconds per pass and phase, from a synced run, beside the run without synchronisation.
struct PhaseSummary {
  double draft_s = 0;
  double checkpoint_s = 0;
  double verify_s = 0;
  double process_s = 0;
  double sample_s = 0;
  double accept_s = 0;
  double rollback_s = 0;
  double other_s = 0;           ///< synced total minus the phases
  double synced_total_s = 0;    ///< seconds per pass of the synced run
  double unsynced_total_s = 0;  ///< seconds per pass of the headline run
  long passes = 0;
  /// What the headline run saves by not waiting: the synced total minus its own. Below zero it is
  /// the noise of two runs.
  std::optional<double> overlap_s = std::nullopt;
};

/// What a greedy text is beside plain's, from the best to the worst (DEFINITIONS 9).
enum class Verdict { equal, near_tie, unknown, wrong };

/// One prompt's greedy text beside plain's.
struct ComparedText {
  std::string prompt_id;
  Verdict verdict = Verdict::equal;
  std::string
      digest;  ///< SHA-256 of its token ids (4 bytes each, lowest first); empty: unknown ids
  std::string plain_digest;  ///< likewise of plain's text
  int first_difference =
      0;          ///< number of the first token that differs, from 1; 0: none, or not known
  int width = 0;  ///< of the pass that said it; 0: not known
  std::optional<double> margin;  ///< top-2 logit margin of plain there; absent: not read
  std::optional<double> limit;   ///< margins under it are near ties; absent: not measured
};

/// Greedy output of an arm against plain's, token for token.
struct Lossless {
  int texts = 0;
  int equal = 0;
  std::string says;                  ///< the worst verdict, with the first place where it was given
  Verdict verdict = Verdict::equal;  ///< the worst of all texts
  int near_tie = 0;
  int unknown = 0;
  int wrong = 0;
  std::vector<ComparedText> each = {};  ///< by prompt
};

/// Rates of one launch alone, on the prompts that all launches have, each weighing the same.
struct LaunchRates {
  int round = 0;
  double tokens_per_s = 0;
  std::optional<double> prefill_tokens_per_s;
};

/// One class of prompts measured on one arm.
struct ClassSummary {
  std::string workload_class;
  int filled_tokens = 0;     ///< of text in the context below its prompts
  int prompts = 0;           ///< prompts behind the figures: those that every counted launch has
  int families = 0;          ///< of those prompts: the units that intervals are made of
  int launches = 0;          ///< launches behind the figures
  int requests_failed = 0;   ///< requests that did not end as done
  int prompts_excluded = 0;  ///< prompts left out because some counted launch lacks them
  double n_eff = 0;
  Counts counts;                       ///< pooled over the requests behind the figures
  std::vector<LaunchRates> by_launch;  ///< in order of the rounds
  Estimate tokens_per_s;
  Estimate passes_per_s;
  Estimate tokens_per_pass;
  Estimate seconds_per_pass;
  Estimate speedup;  ///< against the bare plain arm on the same prompts
  Estimate pass_cost;
  Estimate pass_cost_from_widths;  ///< from separately timed passes of the widths this arm used
  Estimate fire_rate;
  Estimate attempt_rate;
  Estimate draft_per_pass;
  Estimate acceptance;
  std::optional<double> acceptance_length;  ///< 1 + A/S; absent when S = 0
  Estimate prefill_tokens_per_s;
  Estimate ttft_s;            ///< seconds from when a request was due to its first token
  Estimate ttfo_s;            ///< seconds to its first visible text
  Estimate inter_burst_s;     ///< seconds between bursts of tokens
  Estimate tokens_per_burst;  ///< of the bursts after the first
  std::optional<double> repeated_8gram_share;  ///< absent when no output has 8 tokens
  bool looping = false;                        ///< share over 0.3: classes are not compared
  std::optional<double> as_run_tokens_per_s;   ///< raw sum(E - 1) / sum(T); never compared
  Ceiling ceiling;
  std::optional<PhaseSummary> phases;
  std::optional<Lossless> lossless;  ///< greedy runs only
};

struct ArmSummary {
  std::string name;
  int launches_done = 0;
  int launches_lost = 0;  ///< crashed, refused or cut short
  std::vector<ClassSummary> classes;
  Estimate pat_decode;
  Estimate pat_end_to_end;
};

/// Measured seconds of a pass of one width on meaningless tokens.
struct WidthCost {
  int width = 0;
  int depth = 0;
  Estimate verify_s;
  double step = 0;  ///< verify_s over that of the next narrower width; 0 for the narrowest
};

/// The time of passes by width, on the launches that probed it, of one arm's engine.
struct WidthCurve {
  std::string arm;
  int filled_tokens = 0;  ///< of text that the passes came behind; 0: tokens that mean nothing
  std::vector<WidthCost> widths;
  std::map<int, double> draft_s;    ///< median seconds of one draft, by width
  std::map<int, double> process_s;  ///< median seconds of the drafter's catch-up, by width
};

/// What a default of the sampler costs that nobody asked for: the figures of an arm without it over
/// those of the same arm with it, above 1 where it costs. tokens_per_s is the product of the
/// others.
struct DefaultPrice {
  std::string arm;
  std::string without;         ///< the arm that leaves it out
  std::string parameter;       ///< as in asked_parameters
  double parameter_value = 0;  ///< in force in `arm`
  std::string workload_class;
  Estimate tokens_per_s;
  Estimate passes_per_s;
  Estimate tokens_per_pass;
};

struct Summary {
  std::vector<ArmSummary> arms;
  std::vector<WidthCurve> curves;
  std::vector<FillSummary> fills;  ///< empty: no depth was asked for
  std::vector<DefaultPrice> default_prices;
  std::vector<Comparison> comparisons;  ///< empty: none was asked for
  LoadResults loads;
  Steadiness steadiness;
  std::optional<SweepSummary> sweep;        ///< absent: the run is none
  std::vector<std::string> contradictions;  ///< counts that cannot all be true; never clamped
};

/// Every figure of a run. Pure: the same trace gives the same summary. `mix` shares that name a
/// class which was not measured make PAT unknown.
Summary summarise(const trace::Trace& trace, const trace::Mix& mix);

/// Share w_k = 1/classes for each class of the trace at the smallest depth, tokens per request =
/// its output cap.
trace::Mix equal_mix(const trace::Trace& trace);

/// The mix that the run declared, else the equal one.
trace::Mix mix_of(const trace::Trace& trace);

}  // namespace paceline::metrics

PACELINE_ENUM_NAMES(paceline::metrics::Verdict, 4, {paceline::metrics::Verdict::equal, "equal"},
                    {paceline::metrics::Verdict::near_tie, "near_tie"},
                    {paceline::metrics::Verdict::unknown, "differs, cause unknown"},
                    {paceline::metrics::Verdict::wrong, "wrong"});
