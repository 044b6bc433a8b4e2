#pragma once

#include <optional>
#include <string>

#include "trace/trace.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// A stored run by the name that the user gave it: the file of its trace, or its id in the store
/// of --db.
util::Result<trace::Trace> read_run(const std::string& name, const std::optional<std::string>& db);

/// A map of drafts times many lengths in one arm: its figures are no run's.
util::Result<void> refuse_map(const trace::Trace& trace);

struct JoinedRuns {
  trace::Trace trace;
  trace::MachineFacts machine;  ///< what holds of both; empty unless they were made on one machine
  std::string unread;           ///< why the rest of it is absent
};

/// One arm each of two stored runs, "RUN" or "RUN:ARM", as one run of A and B that were measured
/// apart. Without a name the arm is the only one, or the only one that is not plain.
util::Result<JoinedRuns> joined_runs(const std::string& a, const std::string& b,
                                     const std::optional<std::string>& db, double margin);

}  // namespace paceline::cli
