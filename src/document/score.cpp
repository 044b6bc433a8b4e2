#include "document/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "document/counted.hpp"
#include "document/workload.hpp"
#include "metrics/arithmetic.hpp"
#include "metrics/proportion.hpp"
#include "metrics/sample.hpp"

namespace paceline::document {

namespace {

using workload::Prompt;
using workload::Question;

/// Questions that are scored together: a task and a depth.
using RowKey = std::pair<std::string, std::optional<int>>;

struct Answered {
  const Question* question;
  bool right;
};

std::map<std::string, const Question*> questions_of(const std::vector<Prompt>& prompts) {
  std::map<std::string, const Question*> questions;
  for (const Prompt& prompt : prompts)
    if (prompt.question) questions[prompt.id] = &*prompt.question;
  return questions;
}

/// The measured requests of an arm that ran to their end, the first one of each prompt.
std::map<std::string, const trace::Request*> first_requests(const trace::Trace& trace,
                                                            const std::string& arm) {
  std::map<std::string, const trace::Request*> requests;
  for (const auto& launch : trace.launches)
    if (launch.arm == arm && trace::is_headline(launch, trace.header))
      for (const auto& request : launch.requests)
        if (metrics::is_measured(request) && request.outcome.kind == trace::OutcomeKind::done)
          requests.try_emplace(request.prompt_id, &request);
  return requests;
}

double mean_chance(const std::vector<Answered>& answers) {
  std::vector<double> chances;
  for (const Answered& answer : answers) chances.push_back(answer.question->chance);
  return metrics::mean(chances);
}

/// Over all pairs of two questions, which is the mean over all ways to deal the answers out.
Known<double> blind_share(const std::vector<Answered>& answers) {
  if (answers.size() < 2) return not_known<double>("one question has no other's answer");
  std::int64_t right = 0;
  for (const Answered& asked : answers)
    for (const Answered& other : answers)
      if (&asked != &other && workload::is_right(*asked.question, other.question->answer)) ++right;
  const auto count = static_cast<std::int64_t>(answers.size());
  return known(metrics::share(right, count * (count - 1)));
}

ScoreRow to_row(const std::string& arm, const RowKey& key, const std::vector<Answered>& answers) {
  ScoreRow row;
  row.arm = arm;
  std::tie(row.task, row.depth) = key;
  row.right = static_cast<int>(std::count_if(answers.begin(), answers.end(),
                                             [](const Answered& answer) { return answer.right; }));
  row.score = to_quantity(metrics::proportion(row.right, static_cast<int>(answers.size())));
  row.chance = mean_chance(answers);
  row.blind = blind_share(answers);
  return row;
}

void note_unscored(Score& score, const std::string& arm, std::size_t count) {
  if (count > 0)
    score.notes.push_back(fmt::format(
        "{}: outputs of {} prompts are no answers to a question of the workload", arm, count));
}

}  // namespace

Score to_score(const trace::Trace& trace, const std::vector<Prompt>& prompts) {
  Score score;
  score.trace_id = trace.header.trace_id;
  score.workload = trace.header.workload;
  const auto questions = questions_of(prompts);
  for (const auto& arm : trace.header.arms) {
    if (arm.setup.forced) {
      score.notes.push_back(arm.name + " had its acceptance forced: its text answers nothing");
      continue;
    }
    const auto* facts = first_facts(trace, arm.name);
    if (facts != nullptr && facts->target.synthetic) {
      score.notes.push_back(arm.name + " has random weights: its text answers nothing");
      continue;
    }
    std::map<RowKey, std::vector<Answered>> rows;
    std::size_t unscored = 0;
    for (const auto& [id, request] : first_requests(trace, arm.name)) {
      const auto found = questions.find(id);
      if (found == questions.end()) {
        ++unscored;
        continue;
      }
      const Question& question = *found->second;
      rows[{question.task, question.depth}].push_back(
          {&question, workload::is_right(question, request->text)});
    }
    for (const auto& [key, answers] : rows) score.rows.push_back(to_row(arm.name, key, answers));
    note_unscored(score, arm.name, unscored);
    if (arm.sampling.temp != 0.0)
      score.notes.push_back(arm.name + " was sampled: another seed may give another score");
  }
  if (trace.interrupted)
    score.notes.emplace_back("the run was interrupted: some questions were not asked");
  return score;
}

}  // namespace paceline::document
