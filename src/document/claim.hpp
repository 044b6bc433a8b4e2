#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "document/tool.hpp"

// What somebody's figures say and do not say: paceline.claim/1. Figures have the names and units of
// DEFINITIONS; a figure without `value` is known by its bounds only, and an absent bound is none.

namespace paceline::document {

/// A figure as it was given, with everything that its digits can mean.
struct GivenFigure {
  std::string name;
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  std::vector<double> values;  ///< of lists only
  std::string text;            ///< as it was written; may hold anything
  std::string source;          ///< as in "line 12" or "--given 1"
  std::string definition;      ///< where its source defines it otherwise; empty: as it stands
};

/// A figure that follows from those given.
struct DerivedFigure {
  std::string name;
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  std::string rule;               ///< as in "tokens_per_s / tokens_per_pass"
  std::vector<std::string> from;  ///< names of what it was derived from
};

/// A figure that a reader would look for and that does not follow.
struct NotDerived {
  std::string name;
  std::string reason;
};

/// One meaning that an acceptance can have, and what would follow.
struct ClaimReading {
  std::string meaning;
  std::optional<double> tokens_per_pass;
  std::optional<double> passes_per_s;
  std::optional<double> pass_cost;
  bool consistent = true;
  std::string why;  ///< what speaks against it, or for it; empty: nothing
};

/// Figures of one configuration, request or line of a table.
struct ClaimRow {
  std::string label;
  std::string format;                          ///< what its source was recognised as
  std::map<std::string, std::string> context;  ///< as in "quant": "Q5_K_M"
  std::vector<GivenFigure> given;
  std::vector<DerivedFigure> derived;
  std::vector<NotDerived> not_derived;
  std::vector<ClaimReading> readings;
};

/// Two numbers that cannot both be true.
struct ClaimContradiction {
  std::string rule;
  std::string row;
  std::string says;
  double one = 0;
  double other = 0;
};

/// What a reader should know and what contradicts nothing.
struct ClaimRemark {
  std::string kind;
  std::string row;
  std::string says;
};

/// One fact of DEFINITIONS 11 that is not given.
struct ClaimFact {
  std::string fact;
  std::string name;
  std::string reason;
  std::string changes;   ///< how far it could move the conclusion, or has moved another one
  std::string question;  ///< to whoever made the claim
  std::string command;   ///< what would answer it; empty: nothing of ours
};

struct ClaimFacts {
  std::vector<std::string> known;
  std::vector<ClaimFact> missing;  ///< what would change the conclusion most comes first
  std::vector<ClaimFact> not_applicable;
  std::string verdict;  ///< "benchmark", "incomplete" or "screenshot"
};

struct ClaimInput {
  std::string name;
  long lines = 0;
  long understood = 0;
  long skipped = 0;
  std::vector<std::string> formats;
};

struct Claim {
  std::string schema = "paceline.claim/1";
  Tool tool;
  std::string created;
  std::vector<ClaimInput> inputs;
  std::vector<ClaimRow> rows;
  std::vector<DerivedFigure> across;  ///< of all rows together, as pat_decode
  std::vector<ClaimContradiction> contradictions;
  std::vector<ClaimRemark> remarks;
  ClaimFacts facts;
};

/// "12.45" with the digits that the bounds allow, "2.60 to 2.62", "at least 4.71", "at most 6.80".
std::string figure_text(std::optional<double> value, std::optional<double> low,
                        std::optional<double> high);

/// By docs/claim.schema.json.
std::string to_json_text(const Claim& claim);

}  // namespace paceline::document
