#include "worker/forced_acceptance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "util/misused.hpp"

namespace paceline::worker {

namespace {

/// p, p^2, .. p^longest, whose sum is `accepted`.
std::vector<double> geometric(double accepted, int longest) {
  std::vector<double> rates(static_cast<std::size_t>(longest));
  double low = 0;
  double high = 1;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    double rate = 1;
    double sum = 0;
    for (double& place : rates) sum += place = rate *= middle;
    (sum < accepted ? low : high) = middle;
  }
  return rates;
}

/// Every draft has as many tokens accepted as the whole part of `accepted`, or one more.
std::vector<double> least_variance(double accepted, int longest) {
  std::vector<double> rates;
  for (int place = 0; place < longest; ++place)
    rates.push_back(std::clamp(accepted - place, 0.0, 1.0));
  return rates;
}

util::Result<std::vector<double>> check_rates(const std::vector<double>& rates, int longest) {
  if (rates.size() != static_cast<std::size_t>(longest))
    return util::misused(
        "--accept-rates has {} rates, and the longest draft {} tokens: give one for each.",
        rates.size(), longest);
  double before = 1;
  for (const double rate : rates) {
    if (!(rate >= 0 && rate <= before))
      return util::misused(
          "--accept-rates: {} cannot follow {}: each is the share of drafts accepted up "
          "to there, so they fall from at most 1 to at least 0.",
          rate, before);
    before = rate;
  }
  return rates;
}

}  // namespace

util::Result<std::vector<double>> accept_rates(const trace::ForcedAcceptance& asked, int longest) {
  if (!asked.length) return check_rates(asked.rates, longest);
  const double accepted = *asked.length - 1;  // the target's own token is in the length
  if (!(accepted >= 0 && accepted <= longest))
    return util::misused("--accept-length {}: with drafts of {} tokens a pass yields 1 to {}.",
                         *asked.length, longest, longest + 1);
  return asked.schedule == trace::AcceptSchedule::geometric ? geometric(accepted, longest)
                                                            : least_variance(accepted, longest);
}

AcceptanceDraw::AcceptanceDraw(std::vector<double> rates, std::uint32_t seed)
    : rates_(std::move(rates)), random_(seed) {}

int AcceptanceDraw::accepted(int drafted) {
  if (drafted == 0) return 0;
  // A draft is accepted up to place i when the draw is under rate i, and rates do not rise.
  const double draw = static_cast<double>(random_()) / 4294967296.0;
  const auto end =
      std::find_if(rates_.begin(), rates_.end(), [&](double rate) { return draw >= rate; });
  return std::min(drafted, static_cast<int>(end - rates_.begin()));
}

}  // namespace paceline::worker
