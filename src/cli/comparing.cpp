#include "cli/comparing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "cli/pilot.hpp"
#include "cli/stored_runs.hpp"
#include "cli/words.hpp"
#include "metrics/summary.hpp"
#include "report/benchstat.hpp"
#include "report/comparison.hpp"
#include "report/job_summary.hpp"
#include "report/junit.hpp"
#include "util/clock.hpp"
#include "util/console.hpp"
#include "util/files.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

constexpr int fewest_launches = 3;

util::Result<void> check_looks(const std::vector<int>& looks) {
  const bool ascends =
      std::adjacent_find(looks.begin(), looks.end(), std::greater_equal<>()) == looks.end();
  if (looks.empty() || (ascends && looks.front() >= fewest_launches)) return {};
  return util::misused("--looks are numbers of launches, ascending, from {} on, as in 3,6,9",
                       fewest_launches);
}

util::Result<void> set_looks(const CompareRule& rule, study::RunOptions& run) {
  PACELINE_TRY(check_looks(rule.looks));
  if (rule.looks.empty()) return {};
  if (rule.launches_given || rule.budget)
    return util::misused(
        "--looks says how many launches there are at most, and so does {}: give "
        "one of them",
        rule.budget ? "--budget" : "--launches");
  run.rounds = rule.looks.back();
  run.comparison->looks = rule.looks;
  run.is_enough = [looks = rule.looks](const trace::Trace& trace) {
    const int done = trace.launches.back().round + 1;
    if (std::find(looks.begin(), looks.end(), done) == looks.end()) return false;
    const auto found = metrics::compare_arms(trace, metrics::mix_of(trace));
    if (found.empty()) return false;
    const auto& first = found.front();
    if (first.limit) return first.limit_verdict != metrics::LimitVerdict::cannot_tell;
    return first.finding != metrics::Finding::cannot_tell &&
           first.finding != metrics::Finding::too_few;
  };
  return {};
}

util::Result<void> keep_budget(const CompareRule& rule, Sides& sides) {
  if (!rule.budget) return {};
  if (rule.launches_given)
    return util::misused(
        "--launches says how many there are, and --budget finds it out: give one "
        "of them");
  PACELINE_TRY_ASSIGN(const double budget, read_duration("--budget", *rule.budget));
  if (sides.output.dry_run) return {};
  if (sides.output.resume) {
    PACELINE_TRY_ASSIGN(const auto begun, read_run(*sides.output.resume, sides.output.db));
    sides.run.rounds = begun.header.rounds;
    return {};
  }
  PACELINE_TRY_ASSIGN(const Pilot measured, pilot(sides.run, sides.make_engine));
  sides.run.rounds = rounds_within(budget, measured);
  util::say(fmt::format("Budget of {}: a round of {} launches takes about {}, so {} of them.",
                        util::for_people(budget), sides.run.arms.size(),
                        util::for_people(measured.round_s), sides.run.rounds));
  if (sides.run.rounds < fewest_launches)
    util::say(fmt::format(
        "Too few: a verdict needs {} launches of each arm, which take about {}; or "
        "fewer prompts (--prompts), or shorter outputs (-n).",
        fewest_launches, util::for_people(measured.took_s + fewest_launches * measured.round_s)));
  return {};
}

}  // namespace

util::Result<Sides> plan_comparison(const SideWords& words, const CompareRule& rule) {
  trace::Comparison asked{arm_a, arm_b, arm_again, "", "", 0, {}, {}};
  PACELINE_TRY_ASSIGN(asked.margin, read_share("--margin", rule.margin));
  if (rule.fail_if_slower) {
    PACELINE_TRY_ASSIGN(asked.fail_if_slower, read_share("--fail-if-slower", *rule.fail_if_slower));
  }
  PACELINE_TRY_ASSIGN(Sides sides, plan_sides(words));
  asked.a_says = sides.a_says;
  asked.b_says = sides.b_says;
  sides.run.comparison = std::move(asked);
  PACELINE_TRY(set_looks(rule, sides.run));
  PACELINE_TRY(keep_budget(rule, sides));
  return sides;
}

util::Result<Compared> measure_comparison(const Sides& sides) {
  Compared compared;
  const auto keep = [&compared](const document::Document& document) {
    compared.document = document;
    return document.comparisons.empty() ? std::string()
                                        : report::verdict_sentence(document.comparisons.front());
  };
  util::say(fmt::format("A: {}", sides.a_says.empty() ? "what is said of both" : sides.a_says));
  util::say(fmt::format("B: {}", sides.b_says.empty() ? "what is said of both" : sides.b_says));
  if (sides.a_says == sides.b_says)
    util::say("A and B are the same: what is told of them is how steady this machine is.");
  PACELINE_TRY_ASSIGN(compared.exit_code,
                      measure(sides.run, sides.output, sides.make_engine, keep));
  return compared;
}

int exit_code_of(const document::Document& document) {
  if (document.comparisons.empty() || !document.comparisons.front().limit.value) return 0;
  const std::string& verdict = document.comparisons.front().limit.value->verdict;
  if (verdict == "kept") return 0;
  return verdict == "broken" ? 1 : static_cast<int>(util::ErrorKind::not_enough_data);
}

util::Result<void> check_files(const CompareOutput& output) {
  for (const auto& file : {output.github, output.junit})
    if (file) PACELINE_TRY(util::check_writable(*file));
  return {};
}

util::Result<void> write_files(const document::Document& document, const CompareOutput& output) {
  if (output.junit) PACELINE_TRY(util::write_file(*output.junit, report::junit(document)));
  if (!output.github) return {};
  // The steps of a job share one summary.
  std::ofstream file(*output.github, std::ios::app);
  file << report::job_summary(document);
  file.flush();
  if (file) return {};
  return util::fail(util::ErrorKind::internal, *output.github + " could not be written");
}

}  // namespace paceline::cli
