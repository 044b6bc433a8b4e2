#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/machine_facts.hpp"

namespace paceline::trace {

/// How a run was asked for and what it stands on, for showing it elsewhere and for going on with
/// it. No figure is made of it.
struct About {
  std::vector<std::string> command;  ///< the command line without the program's own name
  std::string folder;                ///< that paths in it start from
  MachineFacts machine;
  /// By what a change would make another run of it ("model .../target.gguf", "program"): what was
  /// found there, in words that differ when it differs.
  std::map<std::string, std::string> fingerprint;
};

/// A run that was cut off goes on: of its launches so far the first ones are kept, and the rest are
/// superseded by what follows.
struct Resumption {
  std::string at;  ///< UTC, ISO 8601
  int launches_kept = 0;
  std::vector<std::string> changes;  ///< of the fingerprint, gone on with all the same
};

}  // namespace paceline::trace
