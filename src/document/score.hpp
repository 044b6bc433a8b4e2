#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/known.hpp"
#include "trace/trace.hpp"
#include "workload/prompt.hpp"

namespace paceline::document {

/// Answers of one arm to the questions of one task, of one depth where the task has depths.
struct ScoreRow {
  std::string arm;
  std::string task;
  std::optional<int> depth;  ///< in tokens
  int right = 0;
  Quantity score;     ///< right ones of those asked
  double chance = 0;  ///< mean of the questions' own: a blind answer of the right form, by theory
  /// Share of right ones when each question gets the right answer of another of its row: what a
  /// model scores that knows the task and does not read the prompt. Unknown for a single question.
  Known<double> blind;
};

/// What a run's outputs are worth where its prompts were questions.
struct Score {
  std::string trace_id;
  std::string workload;
  std::vector<ScoreRow> rows;      ///< by arm as in the run, then task, then depth
  std::vector<std::string> notes;  ///< what bears on reading them, a sentence each
};

/// Scores the first measured output of each prompt in each arm. `prompts` are the run's workload;
/// those without a question, and requests of a prompt that is not there, are left out and noted.
Score to_score(const trace::Trace& trace, const std::vector<workload::Prompt>& prompts);

}  // namespace paceline::document
