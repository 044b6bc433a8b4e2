#include "metrics/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "metrics/interval.hpp"

namespace paceline::metrics {

namespace {

constexpr double looping_share = 0.3;
const char* const no_prompt = "no prompt was done in every counted launch";
const char* const no_passes = "no passes were recorded";
const char* const no_drafter = "no drafter";

/// Seconds and passes per token, the two means that every rate comes from.
struct PerToken {
  std::optional<Figure> seconds;
  std::optional<Figure> passes;
  double n_eff = 0;
};

PerToken per_token(const Sample& sample) {
  return {mean_per_token(sample, decode_seconds), mean_per_token(sample, pass_count),
          sample.n_eff()};
}

/// The reason of the first unknown of them, else `otherwise`.
std::string reason_of(std::initializer_list<const Count*> counts, const char* otherwise) {
  for (const Count* count : counts)
    if (!count->known()) return count->reason();
  return otherwise;
}

Estimate ratio_interval(const std::optional<Figure>& ratio, Scale scale, double n_eff,
                        const std::string& reason) {
  if (!ratio) return unknown(reason);
  return with_interval(ratio->value, scale, {Stratum{1, ratio->deviations}}, n_eff);
}

void fill_decode_rates(ClassSummary& summary, const PerToken& mean, bool has_drafter) {
  const auto& seconds = mean.seconds;
  const auto& passes = mean.passes;
  summary.tokens_per_s =
      seconds ? log_interval(1 / seconds->value, scaled(-1, seconds->deviations), mean.n_eff)
              : unknown(no_prompt);
  if (!seconds || !passes) {
    const std::string reason = seconds ? reason_of({&summary.counts.passes}, no_passes) : no_prompt;
    summary.passes_per_s = summary.tokens_per_pass = summary.seconds_per_pass = unknown(reason);
    return;
  }
  const auto rate = combine(1, passes->deviations, -1, seconds->deviations);
  summary.passes_per_s = log_interval(passes->value / seconds->value, rate, mean.n_eff);
  summary.seconds_per_pass =
      log_interval(seconds->value / passes->value, scaled(-1, rate), mean.n_eff);
  summary.tokens_per_pass =
      !has_drafter && passes->value == 1
          ? exactly_one(passes->deviations)
          : log_interval(1 / passes->value, scaled(-1, passes->deviations), mean.n_eff);
}

double accepted(const Counts& counts) { return counts.accepted.number(); }
double offered(const Counts& counts) { return counts.offered.number(); }
double attempts(const Counts& counts) { return counts.attempts.number(); }
double speculative(const Counts& counts) { return counts.passes_speculative.number(); }
double choices(const Counts& counts) {
  return (counts.passes_speculative + counts.passes_plain).number();
}
double prefill_token_count(const Counts& counts) { return counts.prefill_tokens.number(); }

void fill_acceptance(ClassSummary& summary, const Sample& sample, bool has_drafter) {
  if (!has_drafter) {
    summary.fire_rate = summary.attempt_rate = summary.draft_per_pass = summary.acceptance =
        unknown(no_drafter);
    return;
  }
  const double n_eff = sample.n_eff();
  const auto attempt = pooled_ratio(sample, attempts, choices);
  // Several drafters may each have run for one pass: then it is no proportion.
  const auto attempt_scale = attempt && attempt->value > 1 ? Scale::log : Scale::logit;
  const auto& counts = summary.counts;
  const auto *passes = &counts.passes_plain, *with_draft = &counts.passes_speculative;
  summary.attempt_rate = ratio_interval(
      attempt, attempt_scale, n_eff, reason_of({&counts.attempts, with_draft, passes}, no_passes));
  summary.fire_rate = ratio_interval(pooled_ratio(sample, speculative, choices), Scale::logit,
                                     n_eff, reason_of({with_draft, passes}, no_passes));
  summary.draft_per_pass =
      ratio_interval(pooled_ratio(sample, offered, speculative), Scale::log, n_eff,
                     reason_of({&counts.offered, with_draft}, "no pass carried a draft"));
  summary.acceptance =
      ratio_interval(pooled_ratio(sample, accepted, offered), Scale::logit, n_eff,
                     reason_of({&counts.accepted, &counts.offered}, "no draft token was offered"));
  if (counts.passes_speculative > 0 && counts.accepted.known())
    summary.acceptance_length = 1 + accepted(counts) / speculative(counts);
}

void fill_prefill(ClassSummary& summary, const Sample& sample) {
  const double n_eff = sample.n_eff();
  const auto& counts = summary.counts;
  const std::string no_rate = !counts.prefill_s.known() ? counts.prefill_s.reason()
                                                        : reason_of({&counts.prefill_tokens},
                                                                    "no prefill time was recorded");
  summary.prefill_tokens_per_s = ratio_interval(
      pooled_ratio(sample, prefill_token_count, prefill_seconds), Scale::log, n_eff, no_rate);
  if (counts.prefill_tokens == 0)
    summary.prefill_tokens_per_s = unknown("the whole prompt came from a cache");
  const auto latency = [&](Field field, const Seconds& total) {
    if (!total.known()) return unknown(total.reason());
    if (!(total > 0)) return unknown("no prefill time was recorded");
    return ratio_interval(pooled_ratio(sample, field, request_count), Scale::log, n_eff, no_prompt);
  };
  summary.ttft_s = latency([](const Counts& cell) { return cell.ttft_s.number(); }, counts.ttft_s);
  summary.ttfo_s = latency([](const Counts& cell) { return cell.ttfo_s.number(); }, counts.ttfo_s);
  if (!(counts.prefill_s > 0)) summary.prefill_tokens_per_s = unknown(no_rate);
}

double burst_count(const Counts& counts) { return static_cast<double>(counts.bursts); }
double decode_token_count(const Counts& counts) {
  return static_cast<double>(counts.decode_tokens);
}

/// Bursts are what a reader of the stream sees; one is a pass only where passes are seen.
void fill_streaming(ClassSummary& summary, const Sample& sample) {
  const double n_eff = sample.n_eff();
  const char* const no_burst = "all tokens came in one burst";
  summary.inter_burst_s = ratio_interval(pooled_ratio(sample, decode_seconds, burst_count),
                                         Scale::log, n_eff, no_burst);
  summary.tokens_per_burst = ratio_interval(pooled_ratio(sample, decode_token_count, burst_count),
                                            Scale::log, n_eff, no_burst);
}

LaunchRates launch_rates(const Sample& sample, std::size_t launch) {
  LaunchRates rates;
  rates.round = sample.rounds[launch];
  double seconds_per_token = 0;
  double prefill_s = 0;
  double prefill_tokens = 0;
  for (const auto& prompt : sample.prompts) {
    const Counts& cell = prompt.launches[launch];
    seconds_per_token += cell.decode_s / decode_token_count(cell);
    prefill_s += prefill_seconds(cell);
    prefill_tokens += prefill_token_count(cell);
  }
  rates.tokens_per_s = static_cast<double>(sample.prompts.size()) / seconds_per_token;
  if (prefill_tokens > 0 && prefill_s > 0) rates.prefill_tokens_per_s = prefill_tokens / prefill_s;
  return rates;
}

void fill_text(ClassSummary& summary) {
  const auto& counts = summary.counts;
  if (counts.windows_8gram == 0) return;
  summary.repeated_8gram_share = static_cast<double>(counts.windows_8gram_repeated) /
                                 static_cast<double>(counts.windows_8gram);
  summary.looping = loops(counts);
}

}  // namespace

bool loops(const Counts& counts) {
  return static_cast<double>(counts.windows_8gram_repeated) >
         looping_share * static_cast<double>(counts.windows_8gram);
}

double decode_seconds(const Counts& counts) { return counts.decode_s; }
double pass_count(const Counts& counts) { return counts.passes.number(); }
double prefill_seconds(const Counts& counts) { return counts.prefill_s.number(); }
double request_count(const Counts& counts) { return static_cast<double>(counts.requests); }

void fill_rates(ClassSummary& summary, const Sample& sample, bool has_drafter) {
  summary.prompts = static_cast<int>(sample.prompts.size());
  summary.families = static_cast<int>(sample.families());
  summary.launches = static_cast<int>(sample.rounds.size());
  summary.requests_failed = sample.requests_failed;
  summary.prompts_excluded = sample.prompts_excluded;
  summary.n_eff = sample.n_eff();
  summary.counts = sample.pooled();
  if (summary.counts.decode_s > 0)
    summary.as_run_tokens_per_s =
        static_cast<double>(summary.counts.decode_tokens) / summary.counts.decode_s;
  if (!sample.prompts.empty())
    for (std::size_t launch = 0; launch < sample.rounds.size(); ++launch)
      summary.by_launch.push_back(launch_rates(sample, launch));
  fill_decode_rates(summary, per_token(sample), has_drafter);
  fill_acceptance(summary, sample, has_drafter);
  fill_prefill(summary, sample);
  fill_streaming(summary, sample);
  fill_text(summary);
}

void refuse_comparison(ClassSummary& summary, const std::string& reason) {
  summary.speedup = summary.pass_cost = unknown(reason);
}

void fill_comparison(ClassSummary& summary, const Sample& sample, const Sample& plain,
                     bool has_drafter) {
  if (has_drafter && summary.counts.offered < fewest_offered)
    return refuse_comparison(summary,
                             fmt::format("only {} draft tokens offered, under {}: no comparison",
                                         *summary.counts.offered.value(), fewest_offered));
  const auto arm_part = shared_part(sample, plain);
  const auto plain_part = shared_part(plain, arm_part);
  if (arm_part.prompts.empty() || arm_part.rounds.empty())
    return refuse_comparison(summary, "no prompt was done by this arm and plain in one round");
  const auto arm = per_token(arm_part);
  const auto base = per_token(plain_part);
  const double n_eff = std::min(arm.n_eff, base.n_eff);
  summary.speedup =
      log_interval(base.seconds->value / arm.seconds->value,
                   combine(1, base.seconds->deviations, -1, arm.seconds->deviations), n_eff);
  if (!arm.passes || !base.passes) {
    summary.pass_cost = unknown(reason_of({&summary.counts.passes}, no_passes));
    return;
  }
  const auto arm_pass = combine(1, arm.seconds->deviations, -1, arm.passes->deviations);
  const auto plain_pass = combine(1, base.seconds->deviations, -1, base.passes->deviations);
  summary.pass_cost = log_interval(
      (arm.seconds->value / arm.passes->value) / (base.seconds->value / base.passes->value),
      combine(1, arm_pass, -1, plain_pass), n_eff);
}

}  // namespace paceline::metrics
