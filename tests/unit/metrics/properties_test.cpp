// What must hold on every run, whatever the machine, the text and the drafter.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "metrics/summary.hpp"
#include "support/simulated_study.hpp"

namespace {

using namespace paceline;
using engine::simulated::Truth;
using metrics::ClassSummary;
using metrics::Estimate;
using metrics::Summary;

double chance() { return *rc::gen::inRange(0, 101) / 100.0; }

/// Probabilities that no <random> distribution decides: the same on every platform.
double spread_factor(std::string_view text, double width) {
  unsigned value = 7;
  for (const char c : text) value = value * 31 + static_cast<unsigned char>(c);
  return 1 + width * (value % 1000) / 1000.0;
}

Truth any_truth() {
  Truth truth;
  truth.seed = *rc::gen::arbitrary<std::uint64_t>();
  std::vector<double> acceptance;
  for (int i = *rc::gen::inRange(0, 9); i > 0; --i) acceptance.push_back(chance());
  truth.acceptance = [acceptance](const trace::Setup&, std::string_view) { return acceptance; };
  const double slope = chance() / 100;
  truth.verify_s = [slope](int width) { return 0.01 + slope * width; };
  truth.phases.draft_s = chance() / 100;
  truth.phases.rollback_s = chance() / 100;
  truth.phases.between_s = chance() / 1000;
  const double prompts = chance();
  truth.prompt_factor = [prompts](std::string_view text) { return spread_factor(text, prompts); };
  const double launches = chance() / 5;
  truth.launch_factor = [launches](int launch) {
    return spread_factor(std::to_string(launch), launches);
  };
  truth.pass_noise_sd = chance() / 5;
  truth.fire_probability = chance();
  truth.shortest_draft = *rc::gen::inRange(0, 9);
  truth.replays = *rc::gen::arbitrary<bool>();
  truth.eos_probability = *rc::gen::element(0.0, 0.02, 0.3);
  truth.text_period = *rc::gen::element(0, 0, 11);
  return truth;
}

tests::StudyPlan any_plan() {
  auto plan = tests::two_arm_plan(*rc::gen::inRange(1, 12), *rc::gen::inRange(1, 5));
  for (auto& prompt : tests::study_prompts("prose", *rc::gen::inRange(0, 10)))
    plan.prompts.push_back(prompt);
  plan.arms[1].setup.draft_n_max = *rc::gen::inRange(0, 9);
  plan.n_predict = *rc::gen::inRange(1, 40);
  plan.repetitions = *rc::gen::inRange(1, 3);
  plan.synced_too = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) plan.probe_widths = {1, 2, 3, 4, 5, 6, 7, 8};
  return plan;
}

trace::Trace any_trace() { return tests::run_study(any_truth(), any_plan()); }

/// Mean seconds a token over prompts, from nothing but token events: the rule of DEFINITIONS 4 in
/// its own few lines. A prompt with an output of one token in some launch has none.
double seconds_per_token(const trace::Trace& trace, const std::string& arm,
                         const std::string& workload_class) {
  std::map<std::string, std::map<int, std::pair<double, double>>> sums;  // prompt, launch: T, E - 1
  for (const auto& launch : trace.launches) {
    for (const auto& request : launch.requests) {
      if (launch.arm != arm || request.synced || request.workload_class != workload_class) continue;
      auto& [time, tokens] = sums[request.prompt_id][launch.index];
      time +=
          static_cast<double>(request.emissions.back().at_ns - request.emissions.front().at_ns) /
          1e9;
      for (const auto& emission : request.emissions)
        tokens += static_cast<double>(emission.tokens.size());
      tokens -= 1;
    }
  }
  double total = 0;
  int prompts = 0;
  for (const auto& [id, launches] : sums) {
    double time = 0;
    double tokens = 0;
    bool is_whole = true;
    for (const auto& [index, sum] : launches) {
      time += sum.first;
      tokens += sum.second;
      is_whole = is_whole && sum.second > 0;
    }
    if (!is_whole) continue;
    total += time / tokens;
    ++prompts;
  }
  return prompts == 0 ? 0 : total / prompts;
}

std::vector<const Estimate*> estimates_of(const ClassSummary& item) {
  return {&item.tokens_per_s,
          &item.passes_per_s,
          &item.tokens_per_pass,
          &item.seconds_per_pass,
          &item.speedup,
          &item.pass_cost,
          &item.pass_cost_from_widths,
          &item.fire_rate,
          &item.attempt_rate,
          &item.draft_per_pass,
          &item.acceptance,
          &item.prefill_tokens_per_s,
          &item.ttft_s};
}

std::vector<const Estimate*> estimates_of(const Summary& summary) {
  std::vector<const Estimate*> all;
  for (const auto& arm : summary.arms) {
    all.push_back(&arm.pat_decode);
    all.push_back(&arm.pat_end_to_end);
    for (const auto& item : arm.classes)
      for (const auto* estimate : estimates_of(item)) all.push_back(estimate);
  }
  for (const auto& curve : summary.curves)
    for (const auto& width : curve.widths) all.push_back(&width.verify_s);
  return all;
}

void near(double a, double b) { RC_ASSERT(std::abs(a - b) <= 1e-9 * (std::abs(a) + std::abs(b))); }

Summary summary_of(const trace::Trace& trace) {
  return metrics::summarise(trace, metrics::equal_mix(trace));
}

RC_GTEST_PROP(properties, speed_is_passes_times_tokens_in_every_class, ()) {
  const auto trace = any_trace();
  for (const auto& arm : summary_of(trace).arms) {
    for (const auto& item : arm.classes) {
      const double seconds = seconds_per_token(trace, arm.name, item.workload_class);
      RC_ASSERT(item.tokens_per_s.value.has_value() == (seconds > 0));
      if (seconds <= 0) continue;
      near(1 / seconds, *item.passes_per_s.value * *item.tokens_per_pass.value);
      near(1 / seconds, *item.tokens_per_s.value);
      near(1, *item.passes_per_s.value * *item.seconds_per_pass.value);
    }
  }
}

RC_GTEST_PROP(properties, a_mix_is_tokens_over_total_time, ()) {
  const auto trace = any_trace();
  const auto mix = metrics::equal_mix(trace);
  for (const auto& arm : metrics::summarise(trace, mix).arms) {
    double seconds = 0;
    bool is_whole = true;
    for (const auto& [name, item] : mix.classes) {
      const double per_token = seconds_per_token(trace, arm.name, name);
      seconds += item.share * per_token;
      is_whole = is_whole && per_token > 0;
    }
    const bool loops = std::any_of(arm.classes.begin(), arm.classes.end(),
                                   [](const ClassSummary& item) { return item.looping; });
    RC_ASSERT(arm.pat_decode.value.has_value() == (is_whole && !loops));
    if (arm.pat_decode.value) near(*arm.pat_decode.value, 1 / seconds);
  }
}

RC_GTEST_PROP(properties, speedup_is_tokens_per_pass_over_pass_cost, ()) {
  const auto summary = summary_of(any_trace());
  for (const auto& item : summary.arms[1].classes) {
    const auto& plain = summary.arms[0].classes;
    if (!item.speedup.value || !item.pass_cost.value) continue;
    // Only where both arms counted the same prompts do the separate figures belong together.
    const auto same = [&item](const ClassSummary& other) {
      return other.workload_class == item.workload_class && other.prompts == item.prompts &&
             other.prompts_excluded == 0 && item.prompts_excluded == 0;
    };
    if (std::none_of(plain.begin(), plain.end(), same)) continue;
    near(*item.speedup.value, *item.tokens_per_pass.value / *item.pass_cost.value);
  }
}

RC_GTEST_PROP(properties, a_whole_record_leaves_no_residual_and_no_contradiction, ()) {
  const auto summary = summary_of(any_trace());
  RC_ASSERT(summary.contradictions.empty());
  for (const auto& arm : summary.arms)
    for (const auto& item : arm.classes) RC_ASSERT(item.counts.residual_passes == 0);
}

RC_GTEST_PROP(properties, any_one_lost_record_leaves_a_residual, ()) {
  const auto trace = any_trace();
  const auto& launch = trace.launches[*rc::gen::inRange<std::size_t>(0, trace.launches.size())];
  const auto request = launch.requests[*rc::gen::inRange<std::size_t>(0, launch.requests.size())];
  for (std::size_t i = 0; i < request.passes.size(); ++i) {
    auto lost = request;
    lost.passes.erase(lost.passes.begin() + static_cast<std::ptrdiff_t>(i));
    RC_ASSERT(metrics::count_request(lost)->residual_passes == -1);
  }
  for (std::size_t i = 0; i < request.emissions.size(); ++i) {
    auto lost = request;
    lost.emissions.erase(lost.emissions.begin() + static_cast<std::ptrdiff_t>(i));
    const auto counts = metrics::count_request(lost);
    RC_ASSERT(counts.has_value() == (request.emissions.size() > 1));
    if (counts) RC_ASSERT(counts->residual_passes > 0);
  }
}

RC_GTEST_PROP(properties, tokens_per_pass_follows_from_the_counts_of_drafting, ()) {
  // DEFINITIONS 2: 1 + fire_rate (1 - R/F) draft_per_pass acceptance - (W + X)/F.
  for (const auto& arm : summary_of(any_trace()).arms) {
    for (const auto& item : arm.classes) {
      const auto& counts = item.counts;
      if (counts.passes == 0 || !item.acceptance.value) continue;
      const auto passes = counts.passes.number();
      const double fired = *item.fire_rate.value * (1 - counts.passes_replay.number() / passes) *
                           *item.draft_per_pass.value * *item.acceptance.value;
      const double lost = (counts.passes_superseded + counts.overshoot).number();
      near(static_cast<double>(counts.decode_tokens) / passes, 1 + fired - lost / passes);
    }
  }
}

RC_GTEST_PROP(properties, positions_never_rise, ()) {
  for (const auto& arm : summary_of(any_trace()).arms) {
    for (const auto& item : arm.classes) {
      const metrics::PositionCounts* before = nullptr;
      long accepted = 0;
      for (const auto& position : item.counts.positions) {
        RC_ASSERT(position.accepted <= position.reached);
        RC_ASSERT(position.reached <= position.offered);
        if (before != nullptr) RC_ASSERT(position.offered <= before->offered);
        if (before != nullptr) RC_ASSERT(position.reached <= before->accepted);
        accepted += position.accepted;
        before = &position;
      }
      RC_ASSERT(accepted == item.counts.accepted);
    }
  }
}

RC_GTEST_PROP(properties, every_figure_is_finite_and_in_its_interval_or_has_a_reason, ()) {
  const auto summary = summary_of(any_trace());
  for (const auto* estimate : estimates_of(summary)) {
    RC_ASSERT(estimate->low.has_value() == estimate->high.has_value());
    if (!estimate->low) RC_ASSERT(!estimate->reason.empty());
    if (!estimate->value) RC_ASSERT(!estimate->low);
    for (const auto& number : {estimate->value, estimate->low, estimate->high})
      if (number) RC_ASSERT(std::isfinite(*number));
    if (!estimate->low) continue;
    RC_ASSERT(*estimate->low <= *estimate->value);
    RC_ASSERT(*estimate->value <= *estimate->high);
    RC_ASSERT(!estimate->level.empty() && !estimate->method.empty());
  }
  for (const auto& arm : summary.arms)
    for (const auto& item : arm.classes)
      RC_ASSERT(std::isfinite(item.n_eff) && std::isfinite(item.as_run_tokens_per_s.value_or(0)));
}

RC_GTEST_PROP(properties, the_order_of_requests_and_launches_does_not_matter, ()) {
  const auto trace = any_trace();
  auto shuffled = trace;
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  for (auto& launch : shuffled.launches)
    std::shuffle(launch.requests.begin(), launch.requests.end(), random);
  std::shuffle(shuffled.launches.begin(), shuffled.launches.end(), random);
  const auto first = summary_of(trace);
  const auto second = summary_of(shuffled);
  const auto a = estimates_of(first);
  const auto b = estimates_of(second);
  RC_ASSERT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    RC_ASSERT(a[i]->value.has_value() == b[i]->value.has_value());
    if (a[i]->value) near(*a[i]->value, *b[i]->value);
  }
  RC_ASSERT(first.contradictions == second.contradictions);
}

}  // namespace
