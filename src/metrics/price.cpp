#include "metrics/price.hpp"

#include <algorithm>

#include "metrics/interval.hpp"
#include "metrics/rates.hpp"

namespace paceline::metrics {

namespace {

void refuse_price(DefaultPrice& price, const std::string& reason) {
  price.tokens_per_s = price.passes_per_s = price.tokens_per_pass = unknown(reason);
}

}  // namespace

void fill_price(DefaultPrice& price, const Sample& with, const Sample& without, bool drafts) {
  const Sample ours = shared_part(without, with);
  const Sample theirs = shared_part(with, ours);
  if (ours.prompts.empty() || ours.rounds.empty())
    return refuse_price(price, "no prompt was done with and without it in one round");
  const auto seconds = mean_per_token(ours, decode_seconds);
  const auto seconds_with = mean_per_token(theirs, decode_seconds);
  if (!seconds || !seconds_with) return refuse_price(price, "nothing was decoded");
  const double n_eff = std::min(ours.n_eff(), theirs.n_eff());
  const double faster = seconds_with->value / seconds->value;
  const Grid faster_by = combine(1, seconds_with->deviations, -1, seconds->deviations);
  price.tokens_per_s = log_interval(faster, faster_by, n_eff);
  const auto passes = mean_per_token(ours, pass_count);
  const auto passes_with = mean_per_token(theirs, pass_count);
  if (!passes || !passes_with) {
    price.passes_per_s = price.tokens_per_pass = unknown("no passes were recorded");
    return;
  }
  const double longer = passes_with->value / passes->value;
  const Grid longer_by = combine(1, passes_with->deviations, -1, passes->deviations);
  price.tokens_per_pass =
      !drafts && longer == 1 ? exactly_one(longer_by) : log_interval(longer, longer_by, n_eff);
  price.passes_per_s = log_interval(faster / longer, combine(1, faster_by, -1, longer_by), n_eff);
}

std::vector<DefaultPrice> price_defaults(const trace::Trace& trace) {
  std::vector<DefaultPrice> prices;
  for (const auto& arm : trace.header.arms) {
    if (!arm.neutralised) continue;
    const auto with = counted_launches(trace, arm.neutralised->arm);
    const auto without = counted_launches(trace, arm.name);
    for (const auto& workload_class : classes_of(trace)) {
      DefaultPrice price;
      price.arm = arm.neutralised->arm;
      price.without = arm.name;
      price.parameter = arm.neutralised->parameter;
      price.parameter_value = arm.neutralised->value;
      price.workload_class = workload_class;
      fill_price(price, collect(with, workload_class), collect(without, workload_class),
                 arm.setup.spec_type != trace::SpecType::none);
      prices.push_back(std::move(price));
    }
  }
  return prices;
}

}  // namespace paceline::metrics
