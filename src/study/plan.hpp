#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/read_facts.hpp"
#include "model/table_on_disk.hpp"
#include "trace/mix.hpp"
#include "trace/setup.hpp"
#include "trace/trace.hpp"
#include "workload/selection.hpp"

namespace paceline::study {

/// Which loads every launch is put under beside one request at a time.
struct LoadOptions {
  std::vector<int> levels;           ///< closed loops: requests kept in flight
  std::vector<double> rates;         ///< open loops: requests per second
  std::optional<int> requests = {};  ///< of each; absent: every prompt once, two a place at least

  bool any() const { return !levels.empty() || !rates.empty(); }
};

struct RunOptions;

/// Which arms go on to a round, from what was measured in those before it.
using Selection = std::function<std::vector<bool>(const trace::Trace& trace, int round)>;

/// What is measured next into the same trace; nothing when that was all.
using Sequel = std::function<std::optional<RunOptions>(const trace::Trace& trace)>;

/// What a run is asked to do. Everything random follows from `seed`.
struct RunOptions {
  std::vector<trace::Arm> arms;
  workload::Selection prompts;
  std::string workload;                                    ///< its name or path, for the record
  std::vector<std::string> workload_notes;                 ///< what reading it left out, likewise
  trace::PromptForm prompt_form = trace::PromptForm::raw;  ///< that all of `prompts` are in
  std::optional<trace::Mix> mix;                           ///< absent: none was declared
  int n_predict = 128;                                     ///< output cap in tokens
  int rounds = 3;                                          ///< launches per arm
  LoadOptions loads;
  std::vector<int> depths = {0};  ///< tokens of text below the prompts, ascending; each prompt at
                                  ///< each
  std::string fill_text;          ///< that fills the context; empty: nothing has to be filled
  bool ceilings = false;          ///< measure the memory before every launch
  std::vector<model::RowsRead> tables;  ///< of the target, whose rows are gathered then too
  std::optional<model::TensorRange> table_on_disk = {};  ///< the one of them that is not loaded
  std::optional<double> bytes_per_pass = {};  ///< of the target, one token wide; absent: not known
  bool phases = false;                        ///< one more synced launch per arm, for the phases
  bool widths = false;                        ///< time passes by width in every launch
  int widest = 0;                             ///< widest pass to time on the plain arm
  bool ignore_eos = false;                    ///< servers go on to the cap
  bool pictures = false;      ///< every request carries one of ours; chat messages only
  bool warm_session = false;  ///< keep the drafter's own state from request to request
  bool force_text = false;    ///< all arms follow the text that plain gives first, untimed
  std::uint64_t seed = 1;
  int patience_s = 600;                              ///< silence after which an engine is given up
  std::optional<trace::Comparison> comparison = {};  ///< for the record; absent: none was asked for
  /// Asked after every round but the last: true ends the run. Absent: all rounds are run.
  std::function<bool(const trace::Trace&)> is_enough = {};
  std::optional<double> exclude_steal = {};  ///< share of CPU time stolen above which a request is
                                             ///< in no figure
  int first_round = 0;                       ///< number of the first round
  bool held_out = false;                     ///< on prompts that nothing was chosen by
  std::optional<trace::Sweep> sweep = {};    ///< that this run is, for the record
  Selection selection = {};                  ///< empty: all arms run in all rounds
  Sequel sequel = {};                        ///< empty: nothing follows
};

/// One launch to come: which arm, in which round, and the prompts in their order.
struct PlannedLaunch {
  int round = 0;
  std::size_t arm = 0;
  bool synced = false;               ///< for phases only, never for headline figures
  std::vector<std::size_t> prompts;  ///< indices into RunOptions::prompts.measured
  bool held_out = false;
};

/// The whole schedule, made before anything runs. In each round every arm is launched once; over
/// the rounds every arm stands at every place, and follows every other arm, as equally often as
/// their number allows; prompts are shuffled anew for every round, and equally for all arms of it.
std::vector<PlannedLaunch> plan(const RunOptions& options);

/// Rounds of launches that are planned, that for the phases included.
int all_rounds(const RunOptions& options);

/// Launches of the arms that others are held against, past all planned rounds: for texts, and never
/// for headline figures.
std::vector<PlannedLaunch> untimed_launches(const RunOptions& options);

/// The sampler's seed: the same for all arms, different for every prompt and round.
std::uint32_t request_seed(std::uint64_t seed, const std::string& prompt_id, int round);

}  // namespace paceline::study
