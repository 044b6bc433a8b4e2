#include "metrics/weighted.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "metrics/rates.hpp"
#include "util/assert.hpp"

namespace paceline::metrics {

FigureSum weighted_sum(const std::vector<WeightedFigure>& parts) {
  FigureSum sum;
  for (const auto& [weight, figure] : parts) sum.value += weight * figure.value;
  for (const auto& [weight, figure] : parts)
    sum.strata.push_back({weight * figure.value / sum.value, figure.deviations});
  return sum;
}

std::vector<Stratum> scaled(double factor, std::vector<Stratum> strata) {
  for (auto& stratum : strata) stratum.weight *= factor;
  return strata;
}

std::vector<Stratum> difference(const std::vector<Stratum>& first,
                                const std::vector<Stratum>& second) {
  PACELINE_ASSERT(first.size() == second.size());
  std::vector<Stratum> strata;
  for (std::size_t k = 0; k < first.size(); ++k)
    strata.push_back({1, combine(first[k].weight, first[k].deviations, -second[k].weight,
                                 second[k].deviations)});
  return strata;
}

MixSamples collect_mix(const trace::Trace& trace, std::string_view arm, const trace::Mix& mix) {
  const auto launches = counted_launches(trace, arm);
  MixSamples samples;
  for (const auto& [name, item] : mix.classes)
    if (item.share > 0) samples[name] = collect(launches, name);
  return samples;
}

void shrink(MixSamples& samples, const MixSamples& to) {
  for (auto& [name, sample] : samples) sample = shared_part(sample, to.at(name));
}

double n_eff_of(const MixSamples& samples) {
  double least = INFINITY;
  for (const auto& [name, sample] : samples) least = std::min(least, sample.n_eff());
  return least;
}

std::optional<FigureSum> per_token(const MixSamples& samples, const trace::Mix& mix, Field field) {
  std::vector<WeightedFigure> parts;
  for (const auto& [name, sample] : samples) {
    auto figure = mean_per_token(sample, field);
    if (!figure) return std::nullopt;
    parts.push_back({mix.classes.at(name).share, std::move(*figure)});
  }
  if (parts.empty()) return std::nullopt;
  return weighted_sum(parts);
}

Estimate mix_speedup(MixSamples arm, MixSamples plain, const trace::Mix& mix) {
  shrink(arm, plain);
  shrink(plain, arm);
  const auto seconds = per_token(arm, mix, decode_seconds);
  const auto base = per_token(plain, mix, decode_seconds);
  if (!seconds || !base) return unknown("a class of the mix has no prompt that both arms did");
  return with_interval(base->value / seconds->value, Scale::log,
                       difference(base->strata, seconds->strata), n_eff_of(arm));
}

}  // namespace paceline::metrics
