#pragma once

#include <string>
#include <vector>

#include "document/known.hpp"

namespace paceline::document {

/// One prompt's greedy text beside plain's.
struct ComparedText {
  std::string prompt;
  std::string verdict;              ///< as of Lossless
  Known<std::string> digest;        ///< SHA-256 of its token ids, 4 bytes each, the lowest first
  Known<std::string> plain_digest;  ///< likewise of plain's text
  Known<int> first_difference;      ///< number of the first token that differs, from 1
  Known<int> width;                 ///< of the pass that said it
  Known<double> margin;             ///< top-2 logit margin of plain there
  Known<double> near_tie_limit;     ///< under it a margin is a near tie at that width
};

struct Lossless {
  std::string verdict;  ///< the worst: "equal", "near_tie", "differs, cause unknown" or "wrong"
  int texts = 0;
  int equal = 0;
  int near_tie = 0;
  int unknown = 0;
  int wrong = 0;
  std::string says;  ///< the verdict with the first place where it was given
  std::vector<ComparedText> each;
};

}  // namespace paceline::document
