// Whether `compare` keeps its word, on studies of the simulated engine, three launches of A, B and
// A again each: how often the intervals of the ratios hold the truth, how often a difference is
// told where there is none, and whether power and launches needed come true. Exits 1 where it does
// not, by more than the error of so many studies.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "metrics/comparison.hpp"
#include "metrics/summary.hpp"
#include "support/simulated_study.hpp"

namespace {

using namespace paceline;
using metrics::Comparison;
using metrics::Finding;

constexpr int output_tokens = 32;
constexpr double mean_acceptance = 0.6;
constexpr double pass_noise_sd = 0.05;
constexpr double seconds_per_pass = 0.01;
constexpr int draft_of_a = 3;
constexpr double change = 0.02;
constexpr double nominal = 0.95;
constexpr double least_coverage = 0.93;
constexpr double most_coverage = 0.97;
constexpr double most_alarms = 0.05;

struct Scenario {
  int prompts = 8;
  int rounds = 3;
  double launch_sd = 0;
  double prompt_sd = 0;  ///< of a prompt's pass times and, apart from them, of its acceptance
  int draft_of_b = draft_of_a;
  double faster_by = 0;  ///< B's passes
};

double factor(std::mt19937_64& random, double sd) {
  return std::exp(sd * std::normal_distribution<double>()(random) - sd * sd / 2);
}

/// Log-odds around the mean's, so far that acceptance differs by that share of it.
double acceptance(double sd, double normal) {
  const double odds = mean_acceptance / (1 - mean_acceptance);
  const double logit = std::log(odds) + sd / (1 - mean_acceptance) * normal;
  return 1 / (1 + std::exp(-logit));
}

/// Expected passes of a text of so many tokens after the first, where every draft is full and each
/// of its places is accepted with `p` once those before it were.
double expected_passes(double p, int draft, int tokens) {
  std::vector<double> passes(static_cast<std::size_t>(tokens) + 1);
  for (int left = 1; left <= tokens; ++left) {
    double sum = 1;
    for (int emitted = 1; emitted <= draft + 1; ++emitted) {
      const double chance = std::pow(p, emitted - 1) * (emitted <= draft ? 1 - p : 1);
      sum += chance * passes[static_cast<std::size_t>(std::max(0, left - emitted))];
    }
    passes[static_cast<std::size_t>(left)] = sum;
  }
  return passes.back();
}

/// Over all prompts that there might be, by the midpoints of so many equal parts of the normal's
/// range.
double passes_of_all(double prompt_sd, int draft) {
  constexpr int parts = 400;
  constexpr double reach = 6;
  double sum = 0;
  double weights = 0;
  for (int i = 0; i < parts; ++i) {
    const double z = reach * (2 * (i + 0.5) / parts - 1);
    const double weight = std::exp(-z * z / 2);
    sum += weight * expected_passes(acceptance(prompt_sd, z), draft, output_tokens - 1);
    weights += weight;
  }
  return sum / weights;
}

struct Truth {
  double tokens_per_s = 1;
  double passes_per_s = 1;
  double tokens_per_pass = 1;
};

Truth truth_of(const Scenario& scenario) {
  Truth truth;
  truth.passes_per_s = 1 + scenario.faster_by;
  truth.tokens_per_pass = passes_of_all(scenario.prompt_sd, draft_of_a) /
                          passes_of_all(scenario.prompt_sd, scenario.draft_of_b);
  truth.tokens_per_s = truth.passes_per_s * truth.tokens_per_pass;
  return truth;
}

trace::Arm arm(const char* name, int draft) {
  trace::Arm result = tests::drafting_arm(draft);
  result.name = name;
  return result;
}

/// The same seed gives the same first launches, however many follow.
trace::Trace run(const Scenario& scenario, std::uint64_t seed) {
  tests::StudyPlan plan;
  plan.arms = {arm("A", draft_of_a), arm("B", scenario.draft_of_b), arm("A again", draft_of_a)};
  plan.prompts = tests::study_prompts("code", scenario.prompts);
  plan.rounds = scenario.rounds;
  plan.n_predict = output_tokens;
  std::mt19937_64 random(seed);
  std::map<std::string, std::pair<double, double>, std::less<>> prompts;
  for (const auto& prompt : plan.prompts)
    prompts[prompt.text] = {
        factor(random, scenario.prompt_sd),
        acceptance(scenario.prompt_sd, std::normal_distribution<double>()(random))};
  std::vector<double> launches;
  for (std::size_t i = 0; i < plan.arms.size() * static_cast<std::size_t>(plan.rounds); ++i)
    launches.push_back(factor(random, scenario.launch_sd) /
                       (i % plan.arms.size() == 1 ? 1 + scenario.faster_by : 1));

  engine::simulated::Truth truth;
  truth.seed = seed;
  truth.verify_s = [](int) { return seconds_per_pass; };
  truth.pass_noise_sd = pass_noise_sd;
  truth.launch_factor = [&](int launch) { return launches[static_cast<std::size_t>(launch)]; };
  truth.prompt_factor = [&](std::string_view text) { return prompts.find(text)->second.first; };
  truth.acceptance = [&](const trace::Setup& setup, std::string_view text) {
    return std::vector<double>(static_cast<std::size_t>(setup.draft_n_max),
                               prompts.find(text)->second.second);
  };
  auto trace = tests::run_study(truth, plan);
  trace.header.comparison = trace::Comparison{"A", "B", "A again", "", "", change, {}, {}};
  return trace;
}

Comparison compared(const trace::Trace& trace) {
  return metrics::compare_arms(trace, metrics::mix_of(trace)).front();
}

Comparison study(const Scenario& scenario, std::uint64_t seed) {
  return compared(run(scenario, seed));
}

/// The comparison at the look where something is told, else at the last one.
Comparison study_with_looks(Scenario scenario, const std::vector<int>& looks, std::uint64_t seed) {
  scenario.rounds = looks.back();
  const auto whole = run(scenario, seed);
  Comparison found;
  for (const int look : looks) {
    auto part = whole;
    std::erase_if(part.launches, [look](const auto& launch) { return launch.round >= look; });
    part.header.comparison->looks = looks;
    found = compared(part);
    if (found.finding != Finding::cannot_tell) break;
  }
  return found;
}

double share(int count, int studies) { return static_cast<double>(count) / studies; }
double error_of(double rate, int studies) { return 1.96 * std::sqrt(rate * (1 - rate) / studies); }

bool holds(const metrics::Estimate& estimate, double truth) {
  return estimate.low && *estimate.low <= truth && truth <= *estimate.high;
}

bool is_difference(const Comparison& comparison) {
  return comparison.finding == Finding::faster || comparison.finding == Finding::slower;
}

/// Draft lengths of 3 against 7.
bool check_coverage(Scenario scenario, int studies, std::uint64_t seed) {
  scenario.draft_of_b = 7;
  const Truth truth = truth_of(scenario);
  std::array<int, 3> held{};
  for (int i = 0; i < studies; ++i) {
    const Comparison found = study(scenario, seed + static_cast<std::uint64_t>(i));
    held[0] += holds(found.ratios.tokens_per_s, truth.tokens_per_s);
    held[1] += holds(found.ratios.passes_per_s, truth.passes_per_s);
    held[2] += holds(found.ratios.tokens_per_pass, truth.tokens_per_pass);
  }
  bool is_good = true;
  for (const int count : held) {
    const double rate = share(count, studies);
    const double error = error_of(nominal, studies);
    is_good = is_good && rate + error >= least_coverage && rate - error <= most_coverage;
    fmt::print(" {:6.1f}", 100 * rate);
  }
  return is_good;
}

bool check_alarms(const Scenario& scenario, int studies, std::uint64_t seed) {
  int alarms = 0;
  int of_check = 0;
  for (int i = 0; i < studies; ++i) {
    const Comparison found = study(scenario, seed + static_cast<std::uint64_t>(i));
    alarms += is_difference(found);
    of_check += !holds(found.again.tokens_per_s, 1);
  }
  const double rate = share(alarms, studies);
  fmt::print(" | {:5.1f} {:5.1f}", 100 * rate, 100 * share(of_check, studies));
  return rate - error_of(most_alarms, studies) <= most_alarms;
}

/// Alarms and coverage where the verdict is looked for after 3, 6 and 9 launches.
bool check_looks(const Scenario& scenario, int studies, std::uint64_t seed) {
  int alarms = 0;
  int held = 0;
  for (int i = 0; i < studies; ++i) {
    const Comparison found =
        study_with_looks(scenario, {3, 6, 9}, seed + static_cast<std::uint64_t>(i));
    alarms += is_difference(found);
    held += holds(found.ratios.tokens_per_s, 1);
  }
  const double rate = share(alarms, studies);
  fmt::print(
      "{:4.0f} % {:4.0f} % {:>6}   looks after 3, 6 and 9 launches: {:4.1f} % alarms, {:.1f} % "
      "coverage\n",
      100 * scenario.launch_sd, 100 * scenario.prompt_sd, scenario.prompts, 100 * rate,
      100 * share(held, studies));
  return rate - error_of(most_alarms, studies) <= most_alarms;
}

/// Of studies of a change of 2 %: told, and told by mistake to be none; the power they print; and
/// how many of those that ask for more launches can tell when they have them.
void print_power(Scenario scenario, int studies, std::uint64_t seed) {
  scenario.faster_by = change;
  int told = 0;
  int same = 0;
  double power = 0;
  std::vector<int> needed;
  int then_told = 0;
  int tried = 0;
  for (int i = 0; i < studies; ++i) {
    const auto of_study = seed + static_cast<std::uint64_t>(i);
    const Comparison found = study(scenario, of_study);
    told += found.finding == Finding::faster;
    same += found.finding == Finding::same;
    power += found.power.value_or(0);
    if (!found.launches_needed) continue;
    needed.push_back(*found.launches_needed);
    if (i % 5 != 0 || *found.launches_needed > 60) continue;
    Scenario longer = scenario;
    longer.rounds += *found.launches_needed;
    const Comparison again = study(longer, of_study);
    then_told += is_difference(again) || again.finding == Finding::same;
    ++tried;
  }
  std::sort(needed.begin(), needed.end());
  fmt::print(" | {:5.1f} {:5.1f} {:5.1f} {:>6} {:>4}/{:<4}\n", 100 * share(told, studies),
             100 * power / studies, 100 * share(same, studies),
             needed.empty() ? 0 : needed[needed.size() / 2], then_told, tried);
}

}  // namespace

int main(int argc, char** argv) {
  const int studies = argc > 1 ? std::atoi(argv[1]) : 2000;
  constexpr std::uint64_t seed = 20240601;
  if (studies < 1) {
    fmt::print(stderr, "coverage-compare: the number of studies must be 1 or more\n");
    return 2;
  }
  fmt::print(
      "{} studies a row from seed {}; 3 launches each of A, B and A again, outputs of {} tokens\n"
      "                          coverage of 95 %, drafts   %, no differ-  %, change of {:g} %\n"
      "                          of 7 over drafts of 3      ence           by B\n"
      "launch prompt prompts   tok/s  pass/s tok/pass | alarm  A/A | told power  same needed told "
      "then\n",
      studies, seed, output_tokens, 100 * change);
  bool is_good = true;
  for (const double launch_sd : {0.0, 0.02, 0.04})
    for (const double prompt_sd : {0.05, 0.15, 0.25})
      for (const int prompts : {8, 16, 32}) {
        const Scenario scenario{prompts, 3, launch_sd, prompt_sd, draft_of_a, 0};
        fmt::print("{:4.0f} % {:4.0f} % {:>6}   ", 100 * launch_sd, 100 * prompt_sd, prompts);
        is_good = check_coverage(scenario, studies, seed) && is_good;
        is_good = check_alarms(scenario, studies, seed) && is_good;
        print_power(scenario, studies, seed);
        std::fflush(stdout);
      }
  for (const double launch_sd : {0.0, 0.02, 0.04})
    for (const int prompts : {8, 32})
      is_good = check_looks({prompts, 3, launch_sd, 0.15, draft_of_a, 0}, studies, seed) && is_good;
  return is_good ? 0 : 1;
}
