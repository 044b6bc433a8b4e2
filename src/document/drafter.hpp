#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/known.hpp"
#include "document/model.hpp"

// What makes drafts, in paceline.report/1.

namespace paceline::document {

/// Where a model's work is done.
struct Placement {
  std::vector<std::string> devices;  ///< that hold layers; empty: the CPU alone
  Known<int> layers_offloaded;
  Known<int> layers;  ///< the output counted as one
  Known<std::string> graph_splits;
};

/// Sizes of an n-gram drafter in force, in tokens; absent ones are no sizes of its type.
struct NgramSizes {
  std::optional<int> size_n;
  std::optional<int> size_m;
  std::optional<int> min_hits;
  std::optional<int> n_min;
};

/// Acceptance that was drawn by chance and not decided by the target.
struct Forced {
  std::string schedule;          ///< "geometric", "minimum-variance" or "rates"
  std::optional<double> length;  ///< asked for: tokens of a pass with a full draft, in the mean
  std::vector<double> rates;     ///< in force: share of full drafts accepted up to each place
};

/// One drafter of an arm.
struct Drafter {
  std::string arm;  ///< several entries of one arm stand in the order they are asked
  std::string spec_type;
  Known<Model> file;        ///< not known without a file of its own: in the target's, or n-grams
  Known<DraftPart> part;    ///< that part; not known for a file of its own and for n-grams
  Known<int> block;         ///< tokens
  Known<NgramSizes> ngram;  ///< of n-gram drafters only
  Known<int> n_max;         ///< longest draft in tokens after the drafter's own clamp
  Known<bool> on_device;    ///< where draft tokens are picked, as it was seen
  Known<int> candidates;    ///< that the device leaves the host to pick from, for each place
  Known<bool> backend_sampling;  ///< whether the device was asked to pick; not known where it
                                 ///< cannot be asked
  Known<Placement> placement;    ///< of its own model
  Known<std::string> rollback;
  Known<Forced> forced;  ///< not known where the target decides
};

struct Drafters {
  std::vector<Drafter> by_arm;
};

}  // namespace paceline::document
