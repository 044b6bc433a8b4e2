#pragma once

#include "metrics/sample.hpp"
#include "metrics/summary.hpp"

namespace paceline::metrics {

/// Fewest draft tokens offered in a class before its arm is compared with plain.
inline constexpr long fewest_offered = 100;

/// DEFINITIONS 2 and 6 on one class of one arm: everything that needs no other arm.
void fill_rates(ClassSummary& summary, const Sample& sample, bool has_drafter);

/// Speed-up and cost of a pass on the prompts and rounds that both arms have (DEFINITIONS 4).
void fill_comparison(ClassSummary& summary, const Sample& sample, const Sample& plain,
                     bool has_drafter);

/// Says why an arm is not compared with plain.
void refuse_comparison(ClassSummary& summary, const std::string& reason);

/// Output that repeats itself: over 0.3 of its 8-grams stood in it before (DEFINITIONS 7).
bool loops(const Counts& counts);

// The fields that figures are made of.

double decode_seconds(const Counts& counts);
double pass_count(const Counts& counts);
double prefill_seconds(const Counts& counts);
double request_count(const Counts& counts);

}  // namespace paceline::metrics
