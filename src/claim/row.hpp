#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "claim/figure.hpp"
#include "claim/range.hpp"
#include "document/claim.hpp"

namespace paceline::claim {

/// A figure that was given.
struct Stated {
  Figure figure = Figure::tokens_per_s;
  Range range;
  std::vector<Range> values;  ///< of acceptance_at only
  std::string text;           ///< as it was written; may hold anything
  std::string source;
  std::string definition;  ///< where it is known what its source means by it
};

/// What is given of one configuration, request or line of a table.
struct Row {
  std::string label;
  std::string format;
  int group = 0;  ///< rows of one table or one log have one number
  std::map<std::string, std::string> context;
  std::optional<bool> full_drafts;  ///< whether every pass carries a draft of the whole limit
  bool since_start = false;         ///< counters of a server's life, not of one request
  std::vector<Stated> stated;
  /// Of our own documents: each fact with why it is missing, or nothing where it is known.
  std::map<std::string, std::string> own_facts;
  std::map<std::string, std::string> own_not_applicable;  ///< likewise, with why it does not apply

  const Stated* find(Figure figure) const;
  /// Adds it, unless the row has the figure already: the first one stays.
  void add(Stated stated);
};

/// All that was given.
struct Sheet {
  std::vector<Row> rows;
  std::vector<document::ClaimRemark> remarks;
  std::vector<document::ClaimInput> inputs;
};

/// What a row says in words of something; empty: nothing.
const std::string& context_of(const Row& row, const char* name);

/// True of a figure that was written with a percent sign.
bool is_percent(const Stated& stated);

/// True of a row that says it ran without drafts.
bool is_plain(const Row& row);

/// As documents show figures.
std::string shown(const Range& range);
std::string shown(double value);

}  // namespace paceline::claim
