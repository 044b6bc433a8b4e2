#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/known.hpp"

namespace paceline::document {

struct SweptOption {
  std::string option;
  std::vector<std::string> values;
};

/// One point. Intervals hold of all points together; speeds are of the mix.
struct SweepPoint {
  std::string arm;
  std::vector<std::string> values;  ///< in the order of the options
  int launches = 0;
  Known<int> left_out_after;  ///< round (from 0) after which it was left out as slower
  Quantity tokens_per_s;
  Known<double> passes_per_s;
  Known<double> tokens_per_pass;
  Known<double> acceptance;
  Known<double> draft_per_pass;
  Quantity speedup;       ///< over its own plain arm
  Quantity against_best;  ///< over the best of the other points
};

/// A row of the acceptance-against-throughput table: a point, by its longest draft.
struct DraftLength {
  std::string group;  ///< what the rows that belong together have in common; empty: all do
  int draft_length = 0;
  std::string arm;
};

/// The winner and its plain arm on prompts that nothing was chosen by: the only figures to quote.
struct HeldOut {
  std::string arm;
  int prompts = 0;
  int launches = 0;
  Quantity tokens_per_s;
  Quantity passes_per_s;
  Quantity tokens_per_pass;
  Quantity speedup;
};

struct Sweep {
  std::vector<SweptOption> options;
  std::string method;  ///< "full", "around" or "halving"
  std::string rule;    ///< fixed before the first launch
  std::vector<int> rungs;
  std::vector<SweepPoint> points;
  Known<std::string> best;  ///< the arm with the highest speed
  Known<std::vector<std::string>>
      best_set;  ///< arms not worse than the best, as far as can be told
  std::vector<DraftLength> draft_lengths;
  std::vector<std::string> findings;
  Known<HeldOut> held_out;
};

}  // namespace paceline::document
