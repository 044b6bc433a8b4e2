#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/interval.hpp"
#include "metrics/sample.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

/// A figure of one class and what it weighs in a sum over classes.
struct WeightedFigure {
  double weight = 0;
  Figure figure;
};

/// A sum of figures, and the deviations of its logarithm, a stratum a class.
struct FigureSum {
  double value = 0;
  std::vector<Stratum> strata;
};

/// The figures must be above zero.
FigureSum weighted_sum(const std::vector<WeightedFigure>& parts);

/// Strata of factor * the logarithm.
std::vector<Stratum> scaled(double factor, std::vector<Stratum> strata);

/// Strata of the difference of two logarithms, of sums over the same classes, prompts and launches.
std::vector<Stratum> difference(const std::vector<Stratum>& first,
                                const std::vector<Stratum>& second);

/// The classes of a mix on one arm; a class that was not measured has an empty sample.
using MixSamples = std::map<std::string, Sample>;

MixSamples collect_mix(const trace::Trace& trace, std::string_view arm, const trace::Mix& mix);

/// Leaves of each class the prompts and rounds that `to` has too.
void shrink(MixSamples& samples, const MixSamples& to);

/// The least of its classes.
double n_eff_of(const MixSamples& samples);

/// Sum over the classes of share x field per token; nothing where a class has none.
std::optional<FigureSum> per_token(const MixSamples& samples, const trace::Mix& mix, Field field);

/// Tokens per second of a mix on one arm over those on another, of the prompts and rounds that both
/// have, with its interval.
Estimate mix_speedup(MixSamples arm, MixSamples plain, const trace::Mix& mix);

}  // namespace paceline::metrics
