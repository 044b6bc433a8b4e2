// How often the 95 % intervals of a summary hold the truth, on simulated runs whose prompts,
// launches and noise are drawn anew each time. Prints a table; exits 1 when a row is under 93 %
// by more than the error of so many runs.

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "metrics/summary.hpp"

namespace {

using paceline::metrics::Estimate;
using paceline::metrics::Summary;
using paceline::trace::Trace;

constexpr double launch_sd = 0.04;
constexpr double prompt_sd = 0.15;
constexpr double least_coverage = 0.93;

constexpr double plain_seconds_per_token = 0.05;
constexpr double speedup = 1.6;
constexpr int tokens_per_pass = 3;
constexpr int passes = 20;
constexpr double acceptance = 0.6;
constexpr int draft_length = 10;

struct Scenario {
  int prompts = 0;  ///< in each class
  int launches = 0;
  double noise_sd = 0;  ///< of one request's time, beside its prompt's and launch's
};

/// Log-normal with mean 1, so that the truth stays where it was.
double factor(std::mt19937_64& random, double sd) {
  return std::exp(sd * std::normal_distribution<double>()(random) - sd * sd / 2);
}

/// What a prompt is, the same for every arm and launch.
struct Prompt {
  std::string id;
  std::string workload_class;
  double factor = 1;
  double acceptance = 0;
};

std::vector<Prompt> draw_prompts(std::mt19937_64& random, int count) {
  std::vector<Prompt> prompts;
  std::uniform_real_distribution<double> around(acceptance - 0.2, acceptance + 0.2);
  for (const char* name : {"code", "json", "prose"})
    for (int i = 0; i < count; ++i)
      prompts.push_back(
          {fmt::format("{}-{}", name, i), name, factor(random, prompt_sd), around(random)});
  return prompts;
}

/// A request of `passes` passes whose tokens and time are as told; passes carry the draft counts.
paceline::trace::Request make_request(std::mt19937_64& random, const Prompt& prompt,
                                      double seconds_per_token, double noise_sd, bool drafts) {
  paceline::trace::Request request;
  request.prompt_id = prompt.id;
  request.workload_class = prompt.workload_class;
  request.prefill.processed_tokens = 100;
  request.prefill.ended_ns = 1'000'000'000;
  const int tokens = drafts ? tokens_per_pass : 1;
  const double seconds = seconds_per_token * prompt.factor * factor(random, noise_sd) * tokens;
  const auto pass_ns = std::llround(seconds * 1e9);
  request.emissions.push_back({-1, {0}, 0, 0, request.prefill.ended_ns, {}});
  std::binomial_distribution<int> accepted(draft_length, prompt.acceptance);
  for (int i = 0; i < passes; ++i) {
    paceline::trace::Pass pass;
    pass.index = i;
    paceline::trace::Emission emission;
    emission.pass = i;
    emission.tokens.assign(static_cast<std::size_t>(tokens), i);
    emission.at_ns = request.emissions.back().at_ns + pass_ns;
    if (drafts) {
      pass.kind = paceline::trace::PassKind::speculative;
      pass.attempts = 1;
      pass.offered = draft_length;
      pass.accepted = emission.accepted = accepted(random);
    }
    request.passes.push_back(std::move(pass));
    request.emissions.push_back(std::move(emission));
  }
  return request;
}

Trace draw_run(std::mt19937_64& random, const Scenario& scenario) {
  Trace trace;
  trace.header.residency = "bare";
  trace.header.arms.resize(2);
  trace.header.arms[0].name = "plain";
  trace.header.arms[1].name = "draft";
  trace.header.arms[1].setup.spec_type = paceline::trace::SpecType::draft_dflash;
  const auto prompts = draw_prompts(random, scenario.prompts);
  for (int round = 0; round < scenario.launches; ++round) {
    for (const auto& arm : trace.header.arms) {
      const bool drafts = arm.name == "draft";
      paceline::trace::Launch launch;
      launch.index = static_cast<int>(trace.launches.size());
      launch.round = round;
      launch.arm = arm.name;
      const double seconds =
          plain_seconds_per_token / (drafts ? speedup : 1) * factor(random, launch_sd);
      for (const auto& prompt : prompts)
        launch.requests.push_back(make_request(random, prompt, seconds, scenario.noise_sd, drafts));
      trace.launches.push_back(std::move(launch));
    }
  }
  return trace;
}

struct Row {
  const char* name;
  double truth;
  const Estimate& (*pick)(const Summary&);
  int held = 0;
};

std::vector<Row> make_rows() {
  return {
      {"tokens_per_s", 1 / plain_seconds_per_token,
       [](const Summary& s) -> const Estimate& { return s.arms[0].classes[0].tokens_per_s; }},
      {"passes_per_s", speedup / plain_seconds_per_token / tokens_per_pass,
       [](const Summary& s) -> const Estimate& { return s.arms[1].classes[0].passes_per_s; }},
      {"speedup", speedup,
       [](const Summary& s) -> const Estimate& { return s.arms[1].classes[0].speedup; }},
      {"pass_cost", tokens_per_pass / speedup,
       [](const Summary& s) -> const Estimate& { return s.arms[1].classes[0].pass_cost; }},
      {"acceptance", acceptance,
       [](const Summary& s) -> const Estimate& { return s.arms[1].classes[0].acceptance; }},
      {"pat_decode", 1 / plain_seconds_per_token,
       [](const Summary& s) -> const Estimate& { return s.arms[0].pat_decode; }},
  };
}

bool holds(const Estimate& estimate, double truth) {
  return estimate.low && estimate.high && *estimate.low <= truth && truth <= *estimate.high;
}

/// Prints one line a figure; false when one covers too little.
bool measure(const Scenario& scenario, int runs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto rows = make_rows();
  for (int run = 0; run < runs; ++run) {
    const auto trace = draw_run(random, scenario);
    const auto summary = paceline::metrics::summarise(trace, paceline::metrics::equal_mix(trace));
    for (auto& row : rows)
      if (holds(row.pick(summary), row.truth)) ++row.held;
  }
  bool is_enough = true;
  for (const auto& row : rows) {
    const double coverage = static_cast<double>(row.held) / runs;
    const double error = 1.96 * std::sqrt(coverage * (1 - coverage) / runs);
    is_enough = is_enough && coverage + error >= least_coverage;
    fmt::print("{:>7} {:>8} {:>7.2f}  {:<13} {:6.2f} % +- {:.2f}\n", scenario.prompts,
               scenario.launches, scenario.noise_sd, row.name, 100 * coverage, 100 * error);
  }
  return is_enough;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 2000;
  constexpr std::uint64_t seed = 20240601;
  if (runs < 1) {
    fmt::print(stderr, "coverage: the number of runs must be 1 or more\n");
    return 2;
  }
  fmt::print("{} runs each, seed {}; launch sd {}, prompt sd {}\n", runs, seed, launch_sd,
             prompt_sd);
  fmt::print("prompts launches   noise  figure        coverage of nominal 95 %\n");
  bool is_enough = true;
  for (const int prompts : {10, 20})
    for (const int launches : {3, 5, 10})
      for (const double noise_sd : {0.03, 0.2})
        is_enough = measure({prompts, launches, noise_sd}, runs, seed) && is_enough;
  return is_enough ? 0 : 1;
}
