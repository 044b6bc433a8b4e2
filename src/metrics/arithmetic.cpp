#include "metrics/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "util/assert.hpp"

namespace paceline::metrics {

namespace {

constexpr double rounding_of_two_decimals = 0.005;
constexpr double same_speed = 1e-3;

double passes_of(const DraftLengthRow& row) {
  if (row.passes_per_s) return *row.passes_per_s;
  return passes_per_s(row.tokens_per_s,
                      full_draft_tokens_per_pass(row.draft_length, row.acceptance));
}

}  // namespace

double mean(const std::vector<double>& values) {
  PACELINE_ASSERT(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  PACELINE_ASSERT(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double full_draft_tokens_per_pass(int draft_length, double acceptance) {
  return 1 + draft_length * acceptance;
}

double passes_per_s(double tokens_per_s, double tokens_per_pass) {
  return tokens_per_s / tokens_per_pass;
}

double pass_cost(double passes_per_s, double plain_passes_per_s) {
  return plain_passes_per_s / passes_per_s;
}

SpeedRatio decompose(double tokens_per_s, double tokens_per_pass, double base_tokens_per_s,
                     double base_tokens_per_pass) {
  return {tokens_per_s / base_tokens_per_s,
          passes_per_s(tokens_per_s, tokens_per_pass) /
              passes_per_s(base_tokens_per_s, base_tokens_per_pass),
          tokens_per_pass / base_tokens_per_pass};
}

std::optional<double> predictability_adjusted(const std::vector<ClassRate>& classes) {
  double seconds_per_token = 0;
  for (const auto& [share, rate] : classes) {
    if (!(rate > 0)) return std::nullopt;
    seconds_per_token += share / rate;
  }
  if (!(seconds_per_token > 0)) return std::nullopt;
  return 1 / seconds_per_token;
}

double bandwidth_ceiling(double bytes_per_s, double bytes_per_pass) {
  return bytes_per_s / bytes_per_pass;
}

double weight_bytes(double parameters, double bits_per_weight) {
  return parameters * bits_per_weight / 8;
}

double relative_change(double before, double after) { return after / before - 1; }

std::vector<std::string> find_pass_order_contradictions(const std::vector<DraftLengthRow>& rows) {
  std::vector<std::string> found;
  for (const auto& row : rows) {
    const DraftLengthRow* fastest = nullptr;
    for (const auto& longer : rows) {
      if (longer.draft_length <= row.draft_length) continue;
      if (passes_of(longer) <= passes_of(row)) continue;
      if (fastest == nullptr || passes_of(longer) > passes_of(*fastest)) fastest = &longer;
    }
    if (fastest == nullptr) continue;
    found.push_back(fmt::format(
        "passes of draft length {} ({:.2f} per second) are slower than those of {} ({:.2f} per "
        "second), though narrower: noise, or drafts that were not full",
        row.draft_length, passes_of(row), fastest->draft_length, passes_of(*fastest)));
  }
  return found;
}

std::optional<std::string> find_acceptance_trap(const std::vector<DraftLengthRow>& rows,
                                                const SurelyFaster& surely_faster) {
  const auto best = [&rows](double DraftLengthRow::*figure) {
    return std::max_element(rows.begin(), rows.end(), [figure](const auto& one, const auto& other) {
      return one.*figure < other.*figure;
    });
  };
  if (rows.size() < 2) return std::nullopt;
  const auto accepted = best(&DraftLengthRow::acceptance);
  const auto fastest = best(&DraftLengthRow::tokens_per_s);
  if (accepted == fastest) return std::nullopt;
  const auto place = [&rows](auto row) { return static_cast<std::size_t>(row - rows.begin()); };
  return fmt::format(
      "acceptance is best at draft length {} ({:.2f} %, {:.2f} tokens per second) and speed at {} "
      "({:.2f} %, {:.2f} tokens per second): {}",
      accepted->draft_length, 100 * accepted->acceptance, accepted->tokens_per_s,
      fastest->draft_length, 100 * fastest->acceptance, fastest->tokens_per_s,
      surely_faster(place(fastest), place(accepted))
          ? fmt::format("choosing by acceptance costs {:.1f} %",
                        -100 * relative_change(fastest->tokens_per_s, accepted->tokens_per_s))
          : "these speeds cannot be told apart");
}

std::optional<std::string> find_tokens_per_pass_contradiction(int draft_length, double acceptance,
                                                              double printed_tokens_per_pass) {
  const double derived = full_draft_tokens_per_pass(draft_length, acceptance);
  if (std::abs(derived - printed_tokens_per_pass) <= rounding_of_two_decimals) return std::nullopt;
  return fmt::format("1 + {} * {:.4f} = {:.2f} tokens per pass, not {:.2f}", draft_length,
                     acceptance, derived, printed_tokens_per_pass);
}

std::optional<std::string> find_speed_contradiction(int draft_length, double acceptance,
                                                    double tokens_per_s,
                                                    double other_tokens_per_s) {
  if (std::abs(relative_change(tokens_per_s, other_tokens_per_s)) <= same_speed)
    return std::nullopt;
  const double tokens = full_draft_tokens_per_pass(draft_length, acceptance);
  return fmt::format(
      "acceptance {:.2f} % stands beside both {:.2f} and {:.2f} tokens per second ({:.2f} and "
      "{:.2f} passes per second)",
      100 * acceptance, tokens_per_s, other_tokens_per_s, passes_per_s(tokens_per_s, tokens),
      passes_per_s(other_tokens_per_s, tokens));
}

}  // namespace paceline::metrics
