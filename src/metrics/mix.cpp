#include "metrics/mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metrics/interval.hpp"
#include "metrics/rates.hpp"
#include "metrics/weighted.hpp"

namespace paceline::metrics {

namespace {

/// Seconds that one class takes for a token of its own, with their deviations.
struct ClassSeconds {
  double share = 0;
  Figure seconds;
  double n_eff = 0;
};

/// The mix over classes: seconds add up, by share.
Estimate combine_classes(const std::vector<ClassSeconds>& classes) {
  std::vector<WeightedFigure> parts;
  double n_eff = INFINITY;
  for (const auto& item : classes) {
    parts.push_back({item.share, item.seconds});
    n_eff = std::min(n_eff, item.n_eff);
  }
  if (parts.empty()) return unknown("no class of the mix has a share above 0");
  const FigureSum seconds = weighted_sum(parts);
  return with_interval(1 / seconds.value, Scale::log, scaled(-1, seconds.strata), n_eff);
}

/// Seconds of a token with the class's mean prefill: a request's first token comes from prefill,
/// the others from decoding. Nothing without a time of prefill or the tokens of a request.
std::optional<ClassSeconds> with_prefill(const ClassSeconds& decode, const Sample& sample,
                                         std::optional<double> tokens_of_request) {
  if (!tokens_of_request || !(*tokens_of_request >= 1)) return std::nullopt;
  const double tokens_per_request = *tokens_of_request;
  const auto prefill = pooled_ratio(sample, prefill_seconds, request_count);
  if (!prefill) return std::nullopt;
  const double prefilling = prefill->value / tokens_per_request;
  const double decoding = decode.seconds.value * (tokens_per_request - 1) / tokens_per_request;
  auto both = decode;
  both.seconds.value = decoding + prefilling;
  both.seconds.deviations = combine(decoding / both.seconds.value, decode.seconds.deviations,
                                    prefilling / both.seconds.value, prefill->deviations);
  return both;
}

}  // namespace

std::string reason_against_class(const std::string& name, const Sample* sample) {
  if (sample == nullptr || !mean_per_token(*sample, decode_seconds))
    return fmt::format("class {} of the mix was not measured", name);
  if (loops(sample->pooled()))
    return fmt::format("class {} loops: its rates do not compare with the others", name);
  return "";
}

void fill_mix(ArmSummary& arm, const std::map<std::string, Sample>& samples,
              const trace::Mix& mix) {
  const auto refuse = [&arm](const std::string& reason) {
    arm.pat_decode = arm.pat_end_to_end = unknown(reason);
  };
  if (const auto reason = trace::reason_against(mix); !reason.empty()) return refuse(reason);
  std::vector<ClassSeconds> decode;
  std::vector<ClassSeconds> end_to_end;
  std::string without_prefill;
  for (const auto& [name, item] : mix.classes) {
    if (item.share <= 0) continue;
    const auto found = samples.find(name);
    const Sample* sample = found == samples.end() ? nullptr : &found->second;
    if (const auto reason = reason_against_class(name, sample); !reason.empty())
      return refuse(reason);
    decode.push_back({item.share, *mean_per_token(*sample, decode_seconds), sample->n_eff()});
    if (const auto both = with_prefill(decode.back(), *sample, item.tokens_per_request))
      end_to_end.push_back(*both);
    else
      without_prefill = name;
  }
  arm.pat_decode = combine_classes(decode);
  arm.pat_end_to_end =
      without_prefill.empty()
          ? combine_classes(end_to_end)
          : unknown(fmt::format("the mix does not say how many tokens a request of class {} has",
                                without_prefill));
}

}  // namespace paceline::metrics
