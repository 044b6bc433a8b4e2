#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/about.hpp"
#include "trace/comparison.hpp"
#include "trace/draft_map.hpp"
#include "trace/facts.hpp"
#include "trace/load.hpp"
#include "trace/memory.hpp"
#include "trace/memory_speed.hpp"
#include "trace/mix.hpp"
#include "trace/request.hpp"
#include "trace/rereading.hpp"
#include "trace/setup.hpp"
#include "trace/sweep.hpp"

namespace paceline::trace {

/// Measured time of passes of one width on tokens that mean nothing: what the machine does
/// without the text. One entry a repeat.
struct WidthTime {
  int width = 0;
  int depth = 0;
  bool on_filled = false;               ///< the tokens before it are the text of a Fill
  std::vector<Nanoseconds> verify_ns;   ///< the target's decode call, synchronised
  std::vector<Nanoseconds> draft_ns;    ///< one draft of width - 1 tokens; empty without a drafter
  std::vector<Nanoseconds> process_ns;  ///< the drafter's catch-up on the batch; empty likewise
};

/// Text that was put into the context and stayed there, below the requests made on top of it. Each
/// goes on from the one before.
struct Fill {
  int depth = 0;   ///< tokens of text in the context afterwards
  int tokens = 0;  ///< of this part
  Nanoseconds began_ns = 0;
  Nanoseconds ended_ns = 0;
  Nanoseconds drafter_ns = 0;  ///< part of it that the drafter's own processing took
  MemoryFacts memory;          ///< what the engine allocated, afterwards
};

/// A Fill, how it ended, and what the engine's processes held then.
struct FilledDepth {
  int asked_depth = 0;
  Outcome outcome;
  std::optional<Fill> fill;              ///< absent when it was not done
  std::optional<MemoryReading> reading;  ///< absent: the engine is no process of this machine
};

/// One fresh load of an engine for one arm, and what was asked of it.
struct Launch {
  int index = 0;  ///< order in time over the whole run
  int round = 0;  ///< 0, 1, ..: each round launches every arm once
  std::string arm;
  bool held_out = false;  ///< on prompts that nothing was chosen by, past the planned rounds
  std::optional<EngineFacts> facts;  ///< absent when the engine never opened
  Outcome outcome;
  std::optional<MemorySpeed> memory_speed = {};  ///< absent: nobody asked for it
  std::vector<Request> requests;
  std::vector<WidthTime> widths;
  std::vector<MemoryReading> memory;  ///< in order of time; empty: the engine is no process
  std::vector<LoadCell> loads;        ///< in order of time; empty: one request ran at a time
  std::vector<FilledDepth> fills;     ///< from the shallowest; empty: no depth was asked for
  std::vector<Rereading> rereadings;  ///< of texts that another arm did not say; mostly empty
  std::vector<DraftMap> maps;         ///< of texts that a drafter was asked along; mostly empty
};

/// What a run was going to do, fixed before it began.
struct Header {
  std::string trace_id;
  std::string created;  ///< UTC, ISO 8601
  std::string tool_version;
  std::uint64_t seed = 0;  ///< of the order of arms and prompts and of the samplers
  int rounds = 0;
  int n_predict = 0;                         ///< output cap in tokens, equal for every request
  std::string workload;                      ///< name or path
  std::vector<std::string> workload_notes;   ///< what reading it left out, a sentence each
  PromptForm prompt_form = PromptForm::raw;  ///< of every prompt
  bool warm_session = false;  ///< drafter state is kept from request to request, as declared
  bool force_text = false;    ///< every arm followed the text that plain gave first
  std::optional<Mix> mix;     ///< absent: none was declared
  std::string residency;      ///< "bare": every launch alone in memory; "declared": so says the
                              ///< owner of running servers
  std::vector<Arm> arms;
  std::optional<Comparison> comparison = {};  ///< absent: arms are held against plain alone
  std::optional<double> exclude_steal = {};   ///< share of CPU time stolen above which a request is
                                              ///< excluded; absent: none is
  std::optional<Sweep> sweep = {};            ///< absent: it is none
};

/// Launches past the planned rounds are for the phases, for the texts that arms follow, to read
/// texts again, or on held-out prompts; no headline figure is theirs.
inline bool is_headline(const Launch& launch, const Header& header) {
  return launch.round < header.rounds;
}

/// A whole run: raw facts, from which every figure can be recomputed.
struct Trace {
  Header header;
  std::vector<Launch> launches;
  bool interrupted = false;             ///< the user stopped it, or the file ends early
  std::optional<About> about = {};      ///< absent: of an older version
  std::vector<Resumption> resumptions;  ///< in order of time; mostly empty
};

}  // namespace paceline::trace
