#pragma once

#include <memory>
#include <optional>

#include "trace/facts.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::worker {

class GraphWatch;
struct LoadedModel;

/// Who looks at the graphs of each context while they are computed, which costs time: nobody,
/// unless what they read is to be counted.
struct Watches {
  GraphWatch* target = nullptr;
  GraphWatch* drafter = nullptr;
};

struct LoadedModelDeleter {
  void operator()(LoadedModel* model) const;
};
using LoadedModelPtr = std::unique_ptr<LoadedModel, LoadedModelDeleter>;

/// Recurrent-state snapshots to keep instead of llama-server's choice. 0 makes a recurrent target
/// decode accepted tokens again after a rejection, as architectures without snapshots must.
using Snapshots = std::optional<unsigned>;

/// Loads a target and its drafter, or says in one sentence why not. Also says no to what would make
/// llama.cpp abort, as far as the files show it.
util::Result<LoadedModelPtr> load(const trace::Setup& setup, const trace::Sampling& sampling,
                                  Snapshots snapshots = std::nullopt, Watches watches = {});

/// Refuses what load would refuse before it loads anything: what the numbers and the heads of the
/// files show.
util::Result<void> check(const trace::Setup& setup);

/// What really runs.
const trace::EngineFacts& facts(const LoadedModel& model);

}  // namespace paceline::worker
