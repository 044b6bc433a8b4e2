#include "metrics/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "metrics/difference.hpp"
#include "metrics/finding.hpp"
#include "metrics/interval.hpp"
#include "metrics/looks.hpp"
#include "metrics/mix.hpp"
#include "metrics/rates.hpp"
#include "metrics/sample.hpp"
#include "metrics/weighted.hpp"

namespace paceline::metrics {

namespace {

/// What is compared of one arm: classes weigh as they are declared.
struct ArmFigures {
  std::optional<FigureSum> seconds;
  std::optional<FigureSum> passes;
  double n_eff = INFINITY;
};

struct Weighted {
  std::string name;
  double share = 1;
};

/// Samples of one class of A, B and A again, of the same prompts and rounds; `again` is empty where
/// there is no such arm.
struct Sides {
  Sample a;
  Sample b;
  Sample again;
};

using ClassSides = std::map<std::string, Sides>;

Sides same_part(const Sample& a, const Sample& b, const Sample* again) {
  Sides sides;
  sides.a = shared_part(a, b);
  if (again != nullptr) sides.a = shared_part(sides.a, *again);
  sides.b = shared_part(b, sides.a);
  if (again != nullptr) sides.again = shared_part(*again, sides.a);
  return sides;
}

/// Nothing where a class has no figure.
std::optional<FigureSum> weigh(const std::vector<WeightedFigure>& parts, std::size_t classes) {
  if (parts.size() != classes) return std::nullopt;
  return weighted_sum(parts);
}

ArmFigures figures_of(const ClassSides& samples, const std::vector<Weighted>& classes,
                      Sample Sides::*side) {
  ArmFigures result;
  std::vector<WeightedFigure> seconds;
  std::vector<WeightedFigure> passes;
  for (const auto& one : classes) {
    const Sample& sample = samples.at(one.name).*side;
    result.n_eff = std::min(result.n_eff, sample.n_eff());
    if (auto figure = mean_per_token(sample, decode_seconds))
      seconds.push_back({one.share, *figure});
    if (auto figure = mean_per_token(sample, pass_count)) passes.push_back({one.share, *figure});
  }
  result.seconds = weigh(seconds, classes.size());
  result.passes = weigh(passes, classes.size());
  return result;
}

LogFigure log_of(const FigureSum& figure) {
  LogFigure result;
  for (const auto& stratum : figure.strata)
    result.push_back(scaled(stratum.weight, stratum.deviations));
  return result;
}

/// One of the three figures of an arm: its value and its logarithm's deviations.
using Part = std::optional<FigureSum> (*)(const ArmFigures&);

std::optional<FigureSum> tokens_per_s(const ArmFigures& arm) {
  if (!arm.seconds) return std::nullopt;
  return FigureSum{1 / arm.seconds->value, scaled(-1, arm.seconds->strata)};
}

std::optional<FigureSum> passes_per_s(const ArmFigures& arm) {
  if (!arm.seconds || !arm.passes) return std::nullopt;
  return FigureSum{arm.passes->value / arm.seconds->value,
                   difference(arm.passes->strata, arm.seconds->strata)};
}

std::optional<FigureSum> tokens_per_pass(const ArmFigures& arm) {
  if (!arm.passes) return std::nullopt;
  return FigureSum{1 / arm.passes->value, scaled(-1, arm.passes->strata)};
}

std::size_t fewest_units(const FigureSum& figure) {
  std::size_t fewest = figure.strata.front().deviations.units;
  for (const auto& stratum : figure.strata) fewest = std::min(fewest, stratum.deviations.units);
  return fewest;
}

/// What two arms' figures are held against one another with.
struct Terms {
  double n_eff = 0;
  double confidence = 0.95;
  std::size_t looks = 0;
};

Estimate ratio(const FigureSum& a, const FigureSum& b, const LogFigure& again, const Terms& terms) {
  Estimate estimate;
  estimate.value = b.value / a.value;
  for (const auto& stratum : a.strata) estimate.n += static_cast<int>(stratum.deviations.units);
  estimate.reason = too_few(fewest_units(a), terms.n_eff);
  if (!estimate.reason.empty()) return estimate;
  if (a.strata.front().deviations.launches < fewest_launches)
    return with_interval(*estimate.value, Scale::log, difference(b.strata, a.strata), terms.n_eff);
  const auto apart = difference(log_of(a), log_of(b), again);
  const Spread spread = apart ? apart->after(apart->launches()) : Spread{};
  if (!(spread.standard_error > 0)) {
    estimate.reason = "no spread between prompts or launches to make an interval from";
    return estimate;
  }
  const double half = half_width(spread, terms.confidence);
  estimate.low = *estimate.value * std::exp(-half);
  estimate.high = *estimate.value * std::exp(half);
  estimate.level = "95 % over prompts and launches";
  if (terms.looks > 0) estimate.level += fmt::format(", {} looks", terms.looks);
  estimate.method = fmt::format(
      "t with {:.1f} degrees of freedom on the logarithm, prompts paired, launches of each arm "
      "apart{}",
      spread.degrees_of_freedom,
      terms.looks > 0 ? fmt::format("; {:.2f} % at this look", 100 * terms.confidence) : "");
  return estimate;
}

/// The launches of A again tell, beside A's, how much A's launches differ; in the ratio of A again
/// itself they are the other side.
struct Three {
  ArmFigures a;
  ArmFigures b;
  ArmFigures again;
};

Estimate ratio_of(const Three& arms, bool of_again, Part part, const Terms& terms) {
  const auto a = part(arms.a);
  const auto b = part(of_again ? arms.again : arms.b);
  const auto again = part(arms.again);
  if (!a || !b)
    return unknown(a || b ? "one of the arms has no such figure" : "no passes were recorded");
  return ratio(*a, *b, of_again || !again ? LogFigure{} : log_of(*again), terms);
}

Ratios ratios_of(const Three& arms, bool of_again, bool plain, const Terms& terms) {
  Ratios ratios{ratio_of(arms, of_again, tokens_per_s, terms),
                ratio_of(arms, of_again, passes_per_s, terms),
                ratio_of(arms, of_again, tokens_per_pass, terms)};
  if (plain && ratios.tokens_per_pass.value == 1.0)
    ratios.tokens_per_pass = exactly_one(arms.a.passes->strata.front().deviations);
  return ratios;
}

std::optional<Difference> difference_of(const Three& arms, bool of_again) {
  const auto a = tokens_per_s(arms.a);
  const auto b = tokens_per_s(of_again ? arms.again : arms.b);
  if (!a || !b || a->strata.empty()) return std::nullopt;
  const auto again = tokens_per_s(arms.again);
  return difference(log_of(*a), log_of(*b), of_again || !again ? LogFigure{} : log_of(*again));
}

Sample single_launch(const Sample& sample, std::size_t launch) {
  Sample single = sample;
  single.rounds = {sample.rounds[launch]};
  for (auto& prompt : single.prompts) prompt.launches = {prompt.launches[launch]};
  return single;
}

void add_launches(Comparison& comparison, const ClassSides& samples,
                  const std::vector<Weighted>& classes, const std::string& arm,
                  Sample Sides::*side) {
  for (std::size_t l = 0; l < (samples.at(classes.front().name).*side).rounds.size(); ++l) {
    ClassSides singles;
    for (const auto& one : classes)
      singles[one.name].*side = single_launch(samples.at(one.name).*side, l);
    const ArmFigures figures = figures_of(singles, classes, side);
    if (!figures.seconds) continue;
    LaunchFigures result{arm,
                         (singles.at(classes.front().name).*side).rounds.front(),
                         1 / figures.seconds->value,
                         {},
                         {}};
    if (figures.passes) {
      result.passes_per_s = figures.passes->value / figures.seconds->value;
      result.tokens_per_pass = 1 / figures.passes->value;
    }
    comparison.launch_figures.push_back(std::move(result));
  }
}

/// What stays the same in all comparisons of a run.
struct Rule {
  const trace::Comparison& asked;
  bool plain = false;  ///< neither arm drafts
  int rounds = 0;      ///< done
};

void refuse(Comparison& comparison, const std::string& reason) {
  for (auto* ratios : {&comparison.ratios, &comparison.again})
    ratios->tokens_per_s = ratios->passes_per_s = ratios->tokens_per_pass = unknown(reason);
  comparison.finding = Finding::too_few;
  comparison.because = comparison.launches_reason = reason;
}

/// Why classes make no figure together; empty where they do. One alone may loop; one that was
/// measured and of which nothing is shared is told of elsewhere.
std::string reason_against(const ClassSides& samples, const std::vector<Weighted>& classes) {
  for (const auto& one : classes) {
    const auto found = samples.find(one.name);
    if (found == samples.end()) return reason_against_class(one.name, nullptr);
    if (classes.size() == 1) return "";
    for (const auto side : {&Sides::a, &Sides::b})
      if (const Sample& sample = found->second.*side; !sample.prompts.empty())
        if (auto reason = reason_against_class(one.name, &sample); !reason.empty()) return reason;
  }
  return "";
}

Comparison compare(const Rule& rule, const ClassSides& samples,
                   const std::vector<Weighted>& classes) {
  const trace::Comparison& asked = rule.asked;
  Comparison result;
  result.a = asked.a;
  result.b = asked.b;
  result.margin = asked.margin;
  result.limit = asked.fail_if_slower;
  if (const auto reason = reason_against(samples, classes); !reason.empty()) {
    refuse(result, reason);
    return result;
  }
  const Three arms{figures_of(samples, classes, &Sides::a), figures_of(samples, classes, &Sides::b),
                   figures_of(samples, classes, &Sides::again)};
  if (!arms.a.seconds || !arms.b.seconds) {
    refuse(result, "no prompt was done by both arms in one round");
    return result;
  }
  result.launches = static_cast<int>(arms.a.seconds->strata.front().deviations.launches);
  const Terms terms{std::min(arms.a.n_eff, arms.b.n_eff),
                    confidence_after(rule.rounds, asked.looks), asked.looks.size()};
  result.ratios = ratios_of(arms, false, rule.plain, terms);
  result.again = arms.again.seconds ? ratios_of(arms, true, rule.plain, terms) : Ratios{};
  if (!arms.again.seconds)
    result.again.tokens_per_s = result.again.passes_per_s = result.again.tokens_per_pass =
        unknown("A was not measured again");
  add_launches(result, samples, classes, asked.a, &Sides::a);
  add_launches(result, samples, classes, asked.b, &Sides::b);
  if (arms.again.seconds) add_launches(result, samples, classes, asked.again, &Sides::again);
  find(result, {difference_of(arms, false), difference_of(arms, true), terms.confidence,
                !asked.again.empty()});
  return result;
}

std::vector<Weighted> declared(const trace::Mix& mix) {
  std::vector<Weighted> classes;
  for (const auto& [name, item] : mix.classes)
    if (item.share > 0) classes.push_back({name, item.share});
  return classes;
}

bool drafts(const trace::Trace& trace, const std::string& name) {
  const auto* arm = trace::find_arm(trace.header.arms, name);
  return arm == nullptr || arm->setup.spec_type != trace::SpecType::none;
}

}  // namespace

std::vector<Comparison> compare_arms(const trace::Trace& trace, const trace::Mix& mix) {
  if (!trace.header.comparison) return {};
  const trace::Comparison& asked = *trace.header.comparison;
  const auto a = counted_launches(trace, asked.a);
  const auto b = counted_launches(trace, asked.b);
  const auto again = counted_launches(trace, asked.again);
  Rule rule{asked, !drafts(trace, asked.a) && !drafts(trace, asked.b), 0};
  for (const auto* launch : b) rule.rounds = std::max(rule.rounds, launch->round + 1);

  ClassSides samples;
  for (const auto& name : classes_of(trace)) {
    const Sample of_again = collect(again, name);
    samples[name] =
        same_part(collect(a, name), collect(b, name), again.empty() ? nullptr : &of_again);
  }
  std::vector<Comparison> comparisons;
  const auto add = [&](const std::vector<Weighted>& classes) {
    comparisons.push_back(compare(rule, samples, classes));
    if (classes.size() == 1) comparisons.back().workload_class = classes.front().name;
  };
  const auto of_mix = declared(mix);
  if (!of_mix.empty()) add(of_mix);
  for (const auto& [name, sides] : samples)
    if (of_mix.size() != 1 || of_mix.front().name != name) add({{name, 1}});
  return comparisons;
}

}  // namespace paceline::metrics
