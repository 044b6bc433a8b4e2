#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/worker_process.hpp"
#include "trace/setup.hpp"

namespace paceline::support {

/// What the training graph drafts in one place, and how sure it was of each token.
struct GoldenDraft {
  std::vector<int> tokens;
  std::vector<double> gaps;  ///< between the best two logits
};

/// A greedy text of the training graph, and the run that emits it with a drafter.
struct GoldenText {
  std::string id;
  std::vector<int> prompt;
  std::vector<int> output;
  int passes = 0;
  int offered = 0;
  int accepted = 0;
  double least_gap = 0;               ///< of all choices that the counts depend on
  std::map<int, GoldenDraft> drafts;  ///< of the run, by the depth of their pass
};

/// What the training graph says of one drafter (train/lab/golden_files.py writes it).
struct Golden {
  trace::Setup setup;  ///< target, drafter, type and length of its drafts; one thread
  std::vector<GoldenText> texts;
};

/// models/NAME-golden.json.
Golden read_golden(const std::string& name);

/// The golden texts, run with another setup than their own.
std::vector<JobReport> run_golden(const Golden& golden, const trace::Setup& setup);

/// Drafts of the engine at golden places, behind the same text.
struct GoldenComparison {
  int drafts = 0;
  int compared = 0;   ///< tokens that the graph was sure of
  int different = 0;  ///< of those; what follows one in its draft is not compared
};

GoldenComparison compare_drafts(const Golden& golden, const trace::Setup& setup);

}  // namespace paceline::support
