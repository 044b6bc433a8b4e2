#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "document/comparisons.hpp"
#include "document/depths.hpp"
#include "document/drafter.hpp"
#include "document/known.hpp"
#include "document/loads.hpp"
#include "document/losslessness.hpp"
#include "document/machine.hpp"
#include "document/memory_parts.hpp"
#include "document/model.hpp"
#include "document/prices.hpp"
#include "document/sweep.hpp"

// paceline.report/1 as a value: what every format is rendered from. Field names are the JSON keys;
// docs/report.schema.json says the same to other programs.

namespace paceline::document {

/// What ran, of the first launch that opened.
struct Engine {
  std::string name;
  Known<std::string> version;
  Known<std::string> build;
  std::vector<std::string> devices;
  Known<int> n_batch;
  Known<int> n_ubatch;
  Known<std::string> cache_type_k;
  Known<std::string> cache_type_v;
  Known<bool> flash_attention;
  Known<Placement> placement;  ///< of the target
};

/// Of one figure in every launch.
struct Spread {
  double least = 0;
  double median = 0;
  double most = 0;
};

/// A vision projector beside the target, and the one image prompt of each launch that passed
/// through both. The file and the counts are those of the first launch that opened with one.
struct Projector {
  Model file;
  std::uint64_t allocated_bytes = 0;  ///< weights and buffers, as its library says
  int image_width = 0;                ///< in pixels
  int image_height = 0;
  int image_tokens = 0;   ///< places that the image takes in the context
  int prompt_tokens = 0;  ///< of the whole prompt, those included
  Spread load_s;
  Spread encode_s;   ///< of the image, by the projector
  Spread prefill_s;  ///< of the whole prompt, by the target
  int launches = 0;
};

struct AskedSetting {
  std::string parameter;
  double value = 0;
};

/// What the user asked of the sampler.
struct RequestedSampling {
  std::vector<AskedSetting> settings;
  std::optional<std::string> samplers;  ///< names separated by ";"; absent: not asked for
};

/// A sampling parameter with who decided it: "user", "gguf", "tool" or "library".
struct SamplingSetting {
  std::string parameter;
  double value = 0;
  std::string origin;
};

struct EffectiveSampling {
  std::vector<SamplingSetting> settings;
  std::vector<std::string> chain;
  std::string chain_origin;
  std::vector<std::string> unread;  ///< what the model's file recommends and nobody can read
};

struct Sampling {
  RequestedSampling requested;
  Known<EffectiveSampling> effective;
  std::vector<SamplingSetting> not_requested;  ///< in force, filtering or reshaping, unasked
};

struct Concurrency {
  int sequences = 1;
  std::string says;
};

struct LaunchLine {
  int index = 0;
  int round = 0;
  std::string arm;
  std::string outcome;
  Known<double> load_s;
};

struct Launches {
  int rounds = 0;   ///< planned; each launches every arm once
  int planned = 0;  ///< rounds times arms
  int done = 0;
  int lost = 0;
  bool interrupted = false;
  std::uint64_t seed = 0;
  std::string workload;
  std::vector<std::string> workload_notes;  ///< how it was read and what was left out
  std::string prompt_form;                  ///< "raw" or "chat"
  int n_predict = 0;                        ///< output cap in tokens
  std::string stop_rule;                    ///< what else ends an output, and whether it is counted
  bool force_text = false;                  ///< every arm followed the text that plain wrote first
  std::string protocol;  ///< "reset", "warm_session" or "server": drafter state between requests
  std::vector<LaunchLine> each;
};

struct Settings {
  std::string spec_type;
  std::optional<std::string> draft_path;  ///< without its folder; absent: no drafter file was named
  int draft_n_max_requested = 0;          ///< 0 = the drafter's own longest
  Known<int> draft_n_max;                 ///< in force
  double draft_p_min = 0;  ///< a draft ends before a token that its drafter gives less; as asked
  Known<int> n_ctx;
  Known<int> threads;
  Known<std::string> cache_type_k;  ///< of the target, in force
  Known<std::string> cache_type_v;
  Known<std::string> draft_cache_type_k;  ///< likewise, of a drafter with a context of its own
  Known<std::string> draft_cache_type_v;
  RequestedSampling sampling;
};

struct Decode {
  Quantity tokens_per_s;
  Quantity passes_per_s;
  Quantity tokens_per_pass;
  Quantity seconds_per_pass;
  Quantity speedup;
  Quantity pass_cost;
  Quantity pass_cost_from_widths;
  Quantity residual_passes;
};

struct Prefill {
  Quantity prefill_tokens_per_s;
  Quantity ttft_s;
  Quantity ttfo_s;  ///< to the first visible text
  Known<long> prefill_tokens;
  Known<long> prefill_cached;  ///< prompt tokens that a cache answered
  Known<double> prefill_s;
  Known<double> prefill_drafter_s;
};

/// What a reader of the stream sees: tokens come in bursts.
struct Streaming {
  Quantity inter_burst_s;
  Quantity tokens_per_burst;
  Known<double> client_decode_s;  ///< the decode windows by our own clock, summed
};

/// DEFINITIONS 3, position 1 .. K.
struct Position {
  int position = 0;
  Known<long> offered;
  Known<long> reached;
  long accepted = 0;
  Known<double> unconditional;
  Known<double> of_offered;
  Known<double> conditional;
};

struct HistogramEntry {
  int offered = 0;
  int accepted = 0;
  long passes = 0;
};

struct DrafterCounts {
  std::string drafter;
  Known<long> passes_speculative;
  Known<long> attempts;
  Known<long> generated;
  Known<long> offered;
  Known<long> tested;
  Known<long> accepted;
};

struct Acceptance {
  Known<long> attempts;
  Known<long> generated;
  Known<long> offered;
  Known<long> tested;
  Known<long> accepted;
  Known<long> overshoot;
  Quantity fire_rate;
  Quantity attempt_rate;
  Quantity draft_per_pass;
  Quantity rate;
  Known<double> acceptance_length;
  std::vector<Position> positions;
  std::vector<HistogramEntry> histogram;
  std::string definition;
  std::vector<DrafterCounts> by_drafter;
};

/// Seconds per pass, from a synced run beside the run without synchronisation.
struct Phases {
  double draft_s = 0;
  double checkpoint_s = 0;
  double verify_s = 0;
  double process_s = 0;
  double sample_s = 0;
  double accept_s = 0;
  double rollback_s = 0;
  double other_s = 0;
  double synced_total_s = 0;
  double unsynced_total_s = 0;
  Known<double> overlap_s;
  long passes = 0;
};

struct WidthPasses {
  int width = 0;  ///< tokens of the decode call
  long passes = 0;
};

/// Passes by width, replays included.
struct WidthHistogram {
  std::vector<WidthPasses> by_width;
};

/// Occupied KV positions before a pass.
struct Depth {
  int lowest = 0;
  int highest = 0;
};

/// Raw totals; never compared between arms.
struct AsRun {
  std::optional<double> tokens_per_s;  ///< absent when nothing was decoded
  long decode_tokens = 0;
  double decode_s = 0;
};

struct Passes {
  Known<long> total;
  Known<long> plain;
  Known<long> speculative;
  Known<long> replay;
  Known<long> superseded;
};

/// Of one launch alone, on the prompts that all launches have, each weighing the same.
struct LaunchRates {
  int round = 0;
  double tokens_per_s = 0;
  Known<double> prefill_tokens_per_s;
};

/// One class of prompts on one arm; `workload_class` has the key "class".
struct Workload {
  std::string workload_class;  ///< as in "json", or "json@4096" behind so many tokens of text
  std::string base_class;      ///< without the depth
  int filled_tokens = 0;       ///< of text in the context below its prompts
  int prompts = 0;
  int families = 0;
  int prompts_excluded = 0;
  long requests = 0;
  int requests_failed = 0;
  int launches = 0;
  double n_eff = 0;
  Decode decode;
  std::vector<LaunchRates> by_launch;
  Prefill prefill;
  Streaming streaming;
  Acceptance acceptance;
  Known<Phases> phases;
  Known<Depth> depth;
  AsRun as_run;
  long output_tokens = 0;
  Passes passes;
  Known<WidthHistogram> widths;
  Known<double> repeated_8gram_share;
  Known<bool> looping;
  Known<Lossless> lossless;
  Ceiling ceiling;
  Known<BreakEven> break_even;
};

struct Arm {
  std::string name;
  Known<std::string> plain;  ///< the arm that it is held against
  std::string residency;
  Settings settings;
  int launches_done = 0;
  int launches_lost = 0;
  std::vector<Workload> workloads;
};

struct Mix {
  std::string name;
  std::map<std::string, double> shares;                     ///< of output tokens, by class
  std::map<std::string, Known<double>> tokens_per_request;  ///< likewise
  std::map<std::string, Known<int>> depth;                  ///< KV positions while decoding
  std::map<std::string, Quantity> pat_decode;               ///< tokens per second, by arm
  std::map<std::string, Quantity> pat_end_to_end;           ///< likewise, prefill included
};

/// Where a number of a server's comes from: a field that it says, or a rule that makes it.
struct Provenance {
  std::string quantity;
  std::string kind;      ///< "said": read from the field; "derived": by the rule, as figures use it
  std::string endpoint;  ///< empty when derived
  std::string field;     ///< likewise
  std::string rule;      ///< empty: taken as it stands
};

/// What a server of a kind can be made to say, or why not.
struct Ability {
  std::string quantity;
  Known<std::string> source;
};

/// The server behind an arm.
struct Server {
  std::string arm;
  std::string dialect;
  std::string chosen;  ///< why that dialect
  std::string url;
  bool managed = false;  ///< we started it
  Known<std::string> build;
  Known<std::string> model;
  Known<std::string> quant;
  Known<int> slots;
  Known<int> n_ctx_slot;
  Known<bool> speculates;
  std::vector<std::string> spec_types;
  Known<int> draft_n_max;
  Known<bool> forced_acceptance;
  Known<std::string> command_line;
  Known<std::string> binary_sha256;
  Known<bool> binary_is_script;  ///< then the hash is that of a script that starts the server
  std::vector<Ability> abilities;
  std::vector<Provenance> provenance;
};

/// A part of the document that this version never measures: always null with its reason.
struct Unmeasured {
  std::string reason;
};

struct WorstRequest {
  std::string arm;
  int round = 0;
  std::string prompt;
  double steal_share = 0;
};

/// Other people's processes of one name, as far as they were seen while requests ran.
struct Neighbour {
  std::string name;
  double cores = 0;  ///< mean over the requests' time
};

/// Over the requests behind the figures.
struct Noise {
  Known<double> steal_share;     ///< of the CPU time of all cores
  Known<double> pressure_share;  ///< of the requests' time, some task waited for a CPU
  Known<WorstRequest> worst_request;
  Known<Spread> clock_mhz;                   ///< of the requests: mean of all cores
  Known<long> throttled;                     ///< times that a core or package throttled
  Known<double> involuntary_switches_per_s;  ///< of the engine's threads
  Known<Neighbour> neighbour;                ///< the busiest
  Quantity launch_sd;           ///< between launches of one arm, relative, all arms together
  Quantity drift_per_hour;      ///< relative change of plain's speed, over the session
  Known<double> exclude_steal;  ///< steal share above which requests are excluded, fixed before
  int requests_excluded = 0;    ///< by that rule
};

struct MissingFact {
  std::string fact;
  std::string reason;
};

/// DEFINITIONS 11.
struct Facts {
  std::vector<std::string> known;
  std::vector<MissingFact> missing;
  std::vector<MissingFact> not_applicable;
  std::string verdict;  ///< "benchmark", "screenshot" or "incomplete"
};

enum class WarningKind {
  looping,
  too_few_prompts,
  few_launches,
  high_steal,
  high_pressure,
  no_free_core,
  version_mismatch,
  sampling_mismatch,
  lost_launch,
  failed_requests,
  contradiction,
  unequal_output,
  few_draft_tokens,
  mix_depth,
  interrupted,
  server_oddity,
  cached_prompt,
  forced_acceptance,
  impossible_pass_cost,
  client_bottleneck,
  synthetic_model,
  wrong_text,
  context_past_training,
  resumed,
  throttled,
  drift,
  sweep_finding,
};
inline constexpr int warning_kinds = 27;

struct Warning {
  WarningKind kind = WarningKind::looping;
  std::string text;
  std::string next_step;
};

/// A request or launch that did not end as done.
struct Failure {
  std::string arm;
  int round = 0;
  std::optional<std::string> prompt;  ///< absent: the launch itself
  std::string kind;
  std::string reason;
  std::optional<int> signal;
  std::optional<int> exit_code;
  std::vector<std::string> log_tail;
};

struct Document {
  std::string schema;
  Tool tool;
  std::string created;
  std::string trace_id;
  Machine machine;
  Known<Engine> engine;
  Known<Model> target;
  Known<Drafters> drafter;
  Known<Projector> projector;
  std::vector<Server> servers;  ///< by arm; empty: the embedded engine
  Sampling sampling;
  Concurrency concurrency;
  Launches launches;
  std::vector<Arm> arms;
  std::vector<Comparison> comparisons;       ///< all classes first; empty: none was asked for
  std::vector<DefaultPrice> default_prices;  ///< empty: none was asked for
  Mix mix;
  Memory memory;
  std::vector<Fill> fills;  ///< by arm and depth; empty: no depth was asked for
  Known<Sweep> sweep;
  Known<std::uint64_t> llc_bytes;  ///< of the caches before memory, as the run's ceilings suppose
  Unmeasured quality;
  Noise noise;
  std::vector<Load> loads;  ///< by arm; empty: one request ran at a time
  std::vector<CrossoverConcurrency> crossover_concurrency;  ///< by arm that speculates, likewise
  std::vector<WidthCurve> width_curves;
  std::vector<Failure> outcomes;
  Facts facts;
  std::vector<Warning> warnings;
  std::optional<std::string> said;  ///< the result in one paragraph; absent when not asked for
};

inline bool speculates(const Arm& arm) { return arm.settings.spec_type != "none"; }

inline bool any_speculates(const Document& document) {
  return std::any_of(document.arms.begin(), document.arms.end(), speculates);
}

}  // namespace paceline::document
