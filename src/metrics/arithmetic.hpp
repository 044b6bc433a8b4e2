#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paceline::metrics {

// The formulas of DEFINITIONS 2, 4, 7 and 8 on bare figures, as they stand in somebody's post.

/// Arithmetic mean; there has to be a value.
double mean(const std::vector<double>& values);

/// The value in the middle, or the mean of both that are; there has to be a value.
double median(std::vector<double> values);

/// 1 + draft length * acceptance: tokens per pass when every pass carries a full draft.
double full_draft_tokens_per_pass(int draft_length, double acceptance);

/// tokens per second over tokens per pass.
double passes_per_s(double tokens_per_s, double tokens_per_pass);

/// Seconds of a pass over seconds of a plain pass.
double pass_cost(double passes_per_s, double plain_passes_per_s);

/// A ratio of speeds taken apart: speed = passes * tokens.
struct SpeedRatio {
  double speed = 0;   ///< of tokens per second
  double passes = 0;  ///< of passes per second
  double tokens = 0;  ///< of tokens per pass
};

/// How much of the ratio of two speeds is passes per second, and how much tokens per pass.
SpeedRatio decompose(double tokens_per_s, double tokens_per_pass, double base_tokens_per_s,
                     double base_tokens_per_pass);

/// One class of a mix: its share of output tokens and its speed in tokens per second.
struct ClassRate {
  double share = 0;
  double tokens_per_s = 0;
};

/// Tokens over total time, 1 / sum(share / rate); nothing when a rate is not above zero.
std::optional<double> predictability_adjusted(const std::vector<ClassRate>& classes);

/// Passes per second that a bandwidth in bytes per second allows at so many bytes a pass.
double bandwidth_ceiling(double bytes_per_s, double bytes_per_pass);

/// Bytes of weights at a number of bits each.
double weight_bytes(double parameters, double bits_per_weight);

/// Change from `before` to `after` as a share of `before`; negative is less.
double relative_change(double before, double after);

/// A speed measured with drafts of one length.
struct DraftLengthRow {
  int draft_length = 0;
  double acceptance = 0;
  double tokens_per_s = 0;
  std::optional<double> passes_per_s = {};  ///< absent: not counted; as it is with full drafts
};

/// Wider passes can't be faster: one sentence for each row whose passes are slower than those of a
/// row with longer drafts. Empty when the rows agree.
std::vector<std::string> find_pass_order_contradictions(const std::vector<DraftLengthRow>& rows);

/// Whether one row, by its place, is faster than another by more than chance makes of nothing.
using SurelyFaster = std::function<bool(std::size_t one, std::size_t other)>;

/// Says that the draft length of the best acceptance is not that of the best speed, or that these
/// two speeds cannot be told apart; nothing when it is, or there are under two rows.
std::optional<std::string> find_acceptance_trap(const std::vector<DraftLengthRow>& rows,
                                                const SurelyFaster& surely_faster);

/// Says that a printed tokens per pass is not 1 + draft length * acceptance, beyond the rounding
/// of its two decimals; nothing when it is.
std::optional<std::string> find_tokens_per_pass_contradiction(int draft_length, double acceptance,
                                                              double printed_tokens_per_pass);

/// Says that one acceptance stands beside two different speeds; nothing when the speeds agree to
/// one part in a thousand.
std::optional<std::string> find_speed_contradiction(int draft_length, double acceptance,
                                                    double tokens_per_s, double other_tokens_per_s);

}  // namespace paceline::metrics
