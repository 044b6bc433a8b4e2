#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/estimate.hpp"
#include "trace/trace.hpp"
#include "util/json.hpp"

namespace paceline::metrics {

/// What is said of B beside A (DEFINITIONS 10; the rules are in docs/compare.md).
enum class Finding { faster, slower, same, cannot_tell, too_few, unpaired };

/// Whether B keeps the limit that was stated: no slower than A by more than a share.
enum class LimitVerdict { kept, broken, cannot_tell };

/// Ratios of two arms' figures; tokens_per_s is the product of the others.
struct Ratios {
  Estimate tokens_per_s;
  Estimate passes_per_s;
  Estimate tokens_per_pass;
};

/// Figures of one launch of an arm alone, on the prompts of the comparison.
struct LaunchFigures {
  std::string arm;
  int round = 0;
  double tokens_per_s = 0;
  std::optional<double> passes_per_s;
  std::optional<double> tokens_per_pass;
};

/// B over A on the prompts and launches that both have, and A again over A on the same.
struct Comparison {
  std::string a;
  std::string b;
  std::string workload_class;  ///< empty: all classes of the mix, by its shares
  int launches = 0;            ///< of each arm
  double margin = 0;           ///< share of A's speed under which a difference is none
  Ratios ratios;
  Ratios again;
  /// Half the width of the interval of A again over A, as a share: smaller effects are told from
  /// nothing. Absent without such launches.
  std::optional<double> again_spread;
  Finding finding = Finding::cannot_tell;
  std::string because;  ///< why nothing is told; empty where something is
  /// More launches of each arm after which a difference of the margin, or the one seen where that
  /// is more, would be told 4 times in 5, should all go on like this.
  std::optional<int> launches_needed;
  std::string launches_reason;  ///< why no number of them is given
  /// Chance that a true difference of the margin would have been told apart in such a study.
  std::optional<double> power;
  std::optional<double> limit;  ///< share that B may be slower by; absent: none was stated
  LimitVerdict limit_verdict = LimitVerdict::cannot_tell;
  std::vector<LaunchFigures> launch_figures;  ///< by arm and round
};

/// Comparisons of the run, as its header says: first of the mix, which is that of a class where the
/// mix is that class alone, then of each other class. Empty where none was asked for. Without an
/// arm that is A again nothing more than "unpaired" is found. Pure.
std::vector<Comparison> compare_arms(const trace::Trace& trace, const trace::Mix& mix);

}  // namespace paceline::metrics

PACELINE_ENUM_NAMES(paceline::metrics::Finding, 6, {paceline::metrics::Finding::faster, "faster"},
                    {paceline::metrics::Finding::slower, "slower"},
                    {paceline::metrics::Finding::same, "same"},
                    {paceline::metrics::Finding::cannot_tell, "cannot tell"},
                    {paceline::metrics::Finding::too_few, "too few"},
                    {paceline::metrics::Finding::unpaired, "unpaired"});
PACELINE_ENUM_NAMES(paceline::metrics::LimitVerdict, 3,
                    {paceline::metrics::LimitVerdict::kept, "kept"},
                    {paceline::metrics::LimitVerdict::broken, "broken"},
                    {paceline::metrics::LimitVerdict::cannot_tell, "cannot tell"});
