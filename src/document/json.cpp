#include "document/json.hpp"

#include "util/json.hpp"

// The one list of each part's keys. Documents are written and never read back, so unlike a trace
// they need one direction only; the count is checked all the same.
#define PACELINE_DOCUMENT_FIELDS(Type, count, ...)                                          \
  static_assert(boost::pfr::tuple_size_v<Type> == (count),                                  \
                "a field of " #Type " is missing in its JSON list");                        \
  static void to_json(paceline::util::Json& nlohmann_json_j, const Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                \
  }                                                                                         \
  static_assert(true)

PACELINE_ENUM_NAMES(paceline::document::WarningKind, paceline::document::warning_kinds,
                    {paceline::document::WarningKind::looping, "looping"},
                    {paceline::document::WarningKind::too_few_prompts, "too_few_prompts"},
                    {paceline::document::WarningKind::few_launches, "few_launches"},
                    {paceline::document::WarningKind::high_steal, "high_steal"},
                    {paceline::document::WarningKind::high_pressure, "high_pressure"},
                    {paceline::document::WarningKind::no_free_core, "no_free_core"},
                    {paceline::document::WarningKind::version_mismatch, "version_mismatch"},
                    {paceline::document::WarningKind::sampling_mismatch, "sampling_mismatch"},
                    {paceline::document::WarningKind::lost_launch, "lost_launch"},
                    {paceline::document::WarningKind::failed_requests, "failed_requests"},
                    {paceline::document::WarningKind::contradiction, "contradiction"},
                    {paceline::document::WarningKind::unequal_output, "unequal_output"},
                    {paceline::document::WarningKind::few_draft_tokens, "few_draft_tokens"},
                    {paceline::document::WarningKind::mix_depth, "mix_depth"},
                    {paceline::document::WarningKind::interrupted, "interrupted"},
                    {paceline::document::WarningKind::server_oddity, "server_oddity"},
                    {paceline::document::WarningKind::cached_prompt, "cached_prompt"},
                    {paceline::document::WarningKind::forced_acceptance, "forced_acceptance"},
                    {paceline::document::WarningKind::impossible_pass_cost, "impossible_pass_cost"},
                    {paceline::document::WarningKind::client_bottleneck, "client_bottleneck"},
                    {paceline::document::WarningKind::synthetic_model, "synthetic_model"},
                    {paceline::document::WarningKind::wrong_text, "wrong_text"},
                    {paceline::document::WarningKind::context_past_training,
                     "context_past_training"},
                    {paceline::document::WarningKind::resumed, "resumed"},
                    {paceline::document::WarningKind::throttled, "throttled"},
                    {paceline::document::WarningKind::drift, "drift"},
                    {paceline::document::WarningKind::sweep_finding, "sweep_finding"});

namespace paceline::document {

template <class T>
static void to_json(util::Json& json, const Known<T>& fact) {
  if (fact.value)
    json = *fact.value;
  else
    json = {{"value", nullptr}, {"reason", fact.reason}};
}

static void to_json(util::Json& json, const Quantity& quantity) {
  if (!quantity.value) {
    json = {{"value", nullptr}, {"reason", quantity.reason}};
    return;
  }
  json = {{"value", *quantity.value}, {"low", quantity.low},       {"high", quantity.high},
          {"level", quantity.level},  {"method", quantity.method}, {"n", quantity.n}};
  if (!quantity.low || !quantity.high) json["reason"] = quantity.reason;
}

static void to_json(util::Json& json, const Unmeasured& part) {
  json = {{"value", nullptr}, {"reason", part.reason}};
}

static void to_json(util::Json& json, const WarningKind& kind) { json = util::enum_name(kind); }

PACELINE_DOCUMENT_FIELDS(Tool, 2, name, version);
PACELINE_DOCUMENT_FIELDS(LoadAverages, 3, one_minute, five_minutes, fifteen_minutes);
PACELINE_DOCUMENT_FIELDS(NumaNode, 3, id, cpus, memory_bytes);
PACELINE_DOCUMENT_FIELDS(Machine, 22, processor, cores_online, cores_physical, l1d_bytes, l2_bytes,
                         l3_bytes, l3_cpus, llc_bytes, llc_instances, memory_bytes,
                         memory_available_bytes, numa_nodes, kernel, os, virtualised, hypervisor,
                         governor, clock_mhz, clock_min_mhz, clock_max_mhz, power_cap_w, load);
PACELINE_DOCUMENT_FIELDS(Device, 5, name, type, description, memory_free_bytes, memory_total_bytes);
PACELINE_DOCUMENT_FIELDS(LoadNow, 3, elapsed_s, steal_share, pressure_share);
PACELINE_DOCUMENT_FIELDS(Rates, 3, best, median, mean);
PACELINE_DOCUMENT_FIELDS(ProbedBandwidth, 7, where, access, pages, threads, bytes, huge_share,
                         bytes_per_s);
PACELINE_DOCUMENT_FIELDS(ProbedGather, 8, row_bytes, table_bytes, shift_bytes, dependent, pages,
                         ns_per_row, ns_per_row_median, bytes_per_s);
PACELINE_DOCUMENT_FIELDS(ProbedDevice, 5, name, bytes, upload_bytes_per_s, download_bytes_per_s,
                         read_bytes_per_s);
PACELINE_DOCUMENT_FIELDS(Probe, 8, created, age_s, took_s, seed, bandwidth, gather, devices,
                         findings);
PACELINE_DOCUMENT_FIELDS(MachineReport, 7, schema, tool, created, machine, devices, now, probe);
PACELINE_DOCUMENT_FIELDS(Placement, 4, devices, layers_offloaded, layers, graph_splits);
PACELINE_DOCUMENT_FIELDS(Engine, 10, name, version, build, devices, n_batch, n_ubatch, cache_type_k,
                         cache_type_v, flash_attention, placement);
PACELINE_DOCUMENT_FIELDS(RecipeRow, 8, tensor_class, type, exception, tensors, elements, bytes,
                         bits_per_weight, blocks);
PACELINE_DOCUMENT_FIELDS(Imatrix, 4, file, dataset, entries, chunks);
PACELINE_DOCUMENT_FIELDS(DraftPart, 5, kind, block, target_layers, nextn_layers, recipe);
PACELINE_DOCUMENT_FIELDS(Split, 4, count, number, present, missing);
PACELINE_DOCUMENT_FIELDS(RopeScaling, 3, type, factor, original_context);
PACELINE_DOCUMENT_FIELDS(Model, 21, file, name, architecture, gguf_version, file_bytes, parameters,
                         bits_per_weight, file_type, recipe, imatrix, layers, embedding_length,
                         vocabulary, context_train, has_chat_template, sampling, drafter, split,
                         oddities, synthetic, rope_scaling);
PACELINE_DOCUMENT_FIELDS(Inspection, 4, schema, tool, created, model);
PACELINE_DOCUMENT_FIELDS(NgramSizes, 4, size_n, size_m, min_hits, n_min);
PACELINE_DOCUMENT_FIELDS(Forced, 3, schedule, length, rates);
PACELINE_DOCUMENT_FIELDS(Drafter, 13, arm, spec_type, file, part, block, ngram, n_max, on_device,
                         candidates, backend_sampling, placement, rollback, forced);
PACELINE_DOCUMENT_FIELDS(Drafters, 1, by_arm);
PACELINE_DOCUMENT_FIELDS(Provenance, 5, quantity, kind, endpoint, field, rule);
PACELINE_DOCUMENT_FIELDS(Ability, 2, quantity, source);
PACELINE_DOCUMENT_FIELDS(Server, 19, arm, dialect, chosen, url, managed, build, model, quant, slots,
                         n_ctx_slot, speculates, spec_types, draft_n_max, forced_acceptance,
                         command_line, binary_sha256, binary_is_script, abilities, provenance);
PACELINE_DOCUMENT_FIELDS(AskedSetting, 2, parameter, value);
PACELINE_DOCUMENT_FIELDS(RequestedSampling, 2, settings, samplers);
PACELINE_DOCUMENT_FIELDS(SamplingSetting, 3, parameter, value, origin);
PACELINE_DOCUMENT_FIELDS(EffectiveSampling, 4, settings, chain, chain_origin, unread);
PACELINE_DOCUMENT_FIELDS(Sampling, 3, requested, effective, not_requested);
PACELINE_DOCUMENT_FIELDS(Concurrency, 2, sequences, says);
PACELINE_DOCUMENT_FIELDS(LaunchLine, 5, index, round, arm, outcome, load_s);
PACELINE_DOCUMENT_FIELDS(Launches, 14, rounds, planned, done, lost, interrupted, seed, workload,
                         workload_notes, prompt_form, n_predict, stop_rule, force_text, protocol,
                         each);
PACELINE_DOCUMENT_FIELDS(Settings, 12, spec_type, draft_path, draft_n_max_requested, draft_n_max,
                         draft_p_min, n_ctx, threads, cache_type_k, cache_type_v,
                         draft_cache_type_k, draft_cache_type_v, sampling);
PACELINE_DOCUMENT_FIELDS(Decode, 8, tokens_per_s, passes_per_s, tokens_per_pass, seconds_per_pass,
                         speedup, pass_cost, pass_cost_from_widths, residual_passes);
PACELINE_DOCUMENT_FIELDS(Prefill, 7, prefill_tokens_per_s, ttft_s, ttfo_s, prefill_tokens,
                         prefill_cached, prefill_s, prefill_drafter_s);
PACELINE_DOCUMENT_FIELDS(Streaming, 3, inter_burst_s, tokens_per_burst, client_decode_s);
PACELINE_DOCUMENT_FIELDS(Position, 7, position, offered, reached, accepted, unconditional,
                         of_offered, conditional);
PACELINE_DOCUMENT_FIELDS(HistogramEntry, 3, offered, accepted, passes);
PACELINE_DOCUMENT_FIELDS(DrafterCounts, 7, drafter, passes_speculative, attempts, generated,
                         offered, tested, accepted);
PACELINE_DOCUMENT_FIELDS(Acceptance, 15, attempts, generated, offered, tested, accepted, overshoot,
                         fire_rate, attempt_rate, draft_per_pass, rate, acceptance_length,
                         positions, histogram, definition, by_drafter);
PACELINE_DOCUMENT_FIELDS(Phases, 12, draft_s, checkpoint_s, verify_s, process_s, sample_s, accept_s,
                         rollback_s, other_s, synced_total_s, unsynced_total_s, overlap_s, passes);
PACELINE_DOCUMENT_FIELDS(WidthPasses, 2, width, passes);
PACELINE_DOCUMENT_FIELDS(WidthHistogram, 1, by_width);
PACELINE_DOCUMENT_FIELDS(Depth, 2, lowest, highest);
PACELINE_DOCUMENT_FIELDS(AsRun, 3, tokens_per_s, decode_tokens, decode_s);
PACELINE_DOCUMENT_FIELDS(Passes, 5, total, plain, speculative, replay, superseded);
PACELINE_DOCUMENT_FIELDS(ComparedText, 8, prompt, verdict, digest, plain_digest, first_difference,
                         width, margin, near_tie_limit);
PACELINE_DOCUMENT_FIELDS(Lossless, 8, verdict, texts, equal, near_tie, unknown, wrong, says, each);

PACELINE_DOCUMENT_FIELDS(ClassBytes, 2, tensor_class, bytes);
PACELINE_DOCUMENT_FIELDS(PassTerms, 6, reading_s, gathering_s, computing_s, drafting_s, host_s,
                         bound);
PACELINE_DOCUMENT_FIELDS(Ceiling, 8, share, read_bytes_per_s, bandwidth, bytes_per_pass, largest,
                         uniform_routing, disk_pages_per_pass, terms);
PACELINE_DOCUMENT_FIELDS(BreakEven, 2, draft_length, is_lower_bound);
PACELINE_DOCUMENT_FIELDS(Fill, 11, arm, depth, tokens, prefill_tokens_per_s, drafter_share,
                         launches, failures, context_bytes, compute_bytes, pss_bytes,
                         unaccounted_bytes);

PACELINE_DOCUMENT_FIELDS(LaunchRates, 3, round, tokens_per_s, prefill_tokens_per_s);

// "class" is no name that C++ allows, so this list is written out.
static_assert(boost::pfr::tuple_size_v<Workload> == 26, "a field of Workload is missing below");
static void to_json(util::Json& json, const Workload& workload) {
  json = {{"class", workload.workload_class},
          {"base_class", workload.base_class},
          {"filled_tokens", workload.filled_tokens},
          {"prompts", workload.prompts},
          {"families", workload.families},
          {"prompts_excluded", workload.prompts_excluded},
          {"requests", workload.requests},
          {"requests_failed", workload.requests_failed},
          {"launches", workload.launches},
          {"n_eff", workload.n_eff},
          {"decode", workload.decode},
          {"by_launch", workload.by_launch},
          {"prefill", workload.prefill},
          {"streaming", workload.streaming},
          {"acceptance", workload.acceptance},
          {"phases", workload.phases},
          {"depth", workload.depth},
          {"as_run", workload.as_run},
          {"output_tokens", workload.output_tokens},
          {"passes", workload.passes},
          {"widths", workload.widths},
          {"repeated_8gram_share", workload.repeated_8gram_share},
          {"looping", workload.looping},
          {"lossless", workload.lossless},
          {"ceiling", workload.ceiling},
          {"break_even", workload.break_even}};
}

PACELINE_DOCUMENT_FIELDS(Arm, 7, name, plain, residency, settings, launches_done, launches_lost,
                         workloads);
PACELINE_DOCUMENT_FIELDS(Ratios, 3, tokens_per_s, passes_per_s, tokens_per_pass);
PACELINE_DOCUMENT_FIELDS(LaunchFigures, 5, arm, round, tokens_per_s, passes_per_s, tokens_per_pass);
PACELINE_DOCUMENT_FIELDS(Limit, 2, slower_by, verdict);
static_assert(boost::pfr::tuple_size_v<Comparison> == 17, "a field of Comparison is missing");
static void to_json(util::Json& json, const Comparison& comparison) {
  json = {{"class", comparison.workload_class},
          {"a", comparison.a},
          {"b", comparison.b},
          {"a_says", comparison.a_says},
          {"b_says", comparison.b_says},
          {"launches", comparison.launches},
          {"margin", comparison.margin},
          {"ratios", comparison.ratios},
          {"again", comparison.again},
          {"again_spread", comparison.again_spread},
          {"verdict", comparison.verdict},
          {"because", comparison.because},
          {"launches_needed", comparison.launches_needed},
          {"power", comparison.power},
          {"limit", comparison.limit},
          {"looks", comparison.looks},
          {"launch_figures", comparison.launch_figures}};
}
static_assert(boost::pfr::tuple_size_v<DefaultPrice> == 8, "a field of DefaultPrice is missing");
static void to_json(util::Json& json, const DefaultPrice& price) {
  json = {{"class", price.workload_class},
          {"arm", price.arm},
          {"without", price.without},
          {"parameter", price.parameter},
          {"parameter_value", price.parameter_value},
          {"tokens_per_s", price.tokens_per_s},
          {"passes_per_s", price.passes_per_s},
          {"tokens_per_pass", price.tokens_per_pass}};
}

PACELINE_DOCUMENT_FIELDS(Mix, 6, name, shares, tokens_per_request, depth, pat_decode,
                         pat_end_to_end);
PACELINE_DOCUMENT_FIELDS(DeviceMemory, 2, device, bytes);
PACELINE_DOCUMENT_FIELDS(MemoryReading, 5, when, pss_bytes, available_bytes, devices, peak_bytes);
PACELINE_DOCUMENT_FIELDS(Spread, 3, least, median, most);
PACELINE_DOCUMENT_FIELDS(Projector, 10, file, allocated_bytes, image_width, image_height,
                         image_tokens, prompt_tokens, load_s, encode_s, prefill_s, launches);
PACELINE_DOCUMENT_FIELDS(DeviceAllocation, 7, device, model_bytes, context_bytes, compute_bytes,
                         free_before_bytes, free_after_bytes, unaccounted_bytes);
PACELINE_DOCUMENT_FIELDS(ArmMemory, 8, arm, model_bytes, context_bytes, compute_bytes,
                         projector_bytes, resident_bytes, devices, readings);
PACELINE_DOCUMENT_FIELDS(Memory, 2, by_arm, after_fill);
PACELINE_DOCUMENT_FIELDS(WorstRequest, 4, arm, round, prompt, steal_share);
PACELINE_DOCUMENT_FIELDS(Neighbour, 2, name, cores);
PACELINE_DOCUMENT_FIELDS(Noise, 11, steal_share, pressure_share, worst_request, clock_mhz,
                         throttled, involuntary_switches_per_s, neighbour, launch_sd,
                         drift_per_hour, exclude_steal, requests_excluded);
PACELINE_DOCUMENT_FIELDS(SweptOption, 2, option, values);
PACELINE_DOCUMENT_FIELDS(SweepPoint, 11, arm, values, launches, left_out_after, tokens_per_s,
                         passes_per_s, tokens_per_pass, acceptance, draft_per_pass, speedup,
                         against_best);
PACELINE_DOCUMENT_FIELDS(DraftLength, 3, group, draft_length, arm);
PACELINE_DOCUMENT_FIELDS(HeldOut, 7, arm, prompts, launches, tokens_per_s, passes_per_s,
                         tokens_per_pass, speedup);
PACELINE_DOCUMENT_FIELDS(Sweep, 10, options, method, rule, rungs, points, best, best_set,
                         draft_lengths, findings, held_out);
PACELINE_DOCUMENT_FIELDS(MissingFact, 2, fact, reason);
PACELINE_DOCUMENT_FIELDS(Facts, 4, known, missing, not_applicable, verdict);
PACELINE_DOCUMENT_FIELDS(Warning, 3, kind, text, next_step);
PACELINE_DOCUMENT_FIELDS(Width, 8, width, depth, verify_s, cost, acceptance_needed, step, draft_s,
                         process_s);
PACELINE_DOCUMENT_FIELDS(WidthCurve, 3, arm, filled_tokens, widths);
PACELINE_DOCUMENT_FIELDS(Failure, 8, arm, round, prompt, kind, reason, signal, exit_code, log_tail);
PACELINE_DOCUMENT_FIELDS(LatencyShares, 3, p50, p95, p99);
PACELINE_DOCUMENT_FIELDS(GapShares, 2, p50, p99);
PACELINE_DOCUMENT_FIELDS(Client, 5, cpu_share, lag_p50_s, lag_p99_s, lag_max_s, bottleneck);
PACELINE_DOCUMENT_FIELDS(Load, 26, arm, loop, concurrency, rate_per_s, launches, requests_planned,
                         requests_done, requests_failed, requests_cancelled, tokens_per_s, window_s,
                         tokens_rule, cell_tokens_per_s, forwards_per_s, sequences_per_forward,
                         tokens_per_sequence_pass, forwards, sequence_passes, prefill_tokens,
                         prefill_cached, residual_passes, residual_tokens, experienced_passes_per_s,
                         ttft_s, inter_burst_s, client);
PACELINE_DOCUMENT_FIELDS(CrossoverLevel, 3, concurrency, ratio, verdict);
PACELINE_DOCUMENT_FIELDS(CrossoverConcurrency, 4, arm, concurrency, says, levels);
PACELINE_DOCUMENT_FIELDS(Document, 30, schema, tool, created, trace_id, machine, engine, target,
                         drafter, projector, servers, sampling, concurrency, launches, arms,
                         comparisons, default_prices, mix, memory, fills, sweep, llc_bytes, quality,
                         noise, loads, crossover_concurrency, width_curves, outcomes, facts,
                         warnings, said);

PACELINE_DOCUMENT_FIELDS(RooflineClass, 4, name, bytes, is_model, observed);
PACELINE_DOCUMENT_FIELDS(RooflinePass, 13, part, width, depth, classes, bytes, device_bytes,
                         cpu_bytes, observed, difference, ceiling_per_s, experts_per_layer,
                         uniform_experts, uniform_bytes);
PACELINE_DOCUMENT_FIELDS(GatheredTable, 8, name, row_bytes, table_bytes, tokens, gathers,
                         different_rows, same_page_share, pages_per_token);
PACELINE_DOCUMENT_FIELDS(ExpertUse, 4, layers, count, picks, shares);
PACELINE_DOCUMENT_FIELDS(ExpertUnion, 6, width, passes, offered, accepted, experts_per_layer,
                         uniform_experts);
PACELINE_DOCUMENT_FIELDS(TokenRead, 6, parameters, weight_bytes, bits_per_weight, bytes_at_4_bits,
                         file_bytes_at_4_bits, parameters_beside);
PACELINE_DOCUMENT_FIELDS(Roofline, 18, schema, tool, created, model, drafter, n_ctx, n_ubatch,
                         cache_type_k, cache_type_v, bandwidth, n_gpu_layers, device_bandwidth,
                         token, passes, tables, experts, speculative, notes);

PACELINE_DOCUMENT_FIELDS(HistoryStudy, 14, id, created, command, tool_version, state, models,
                         workload, launches, requests, requests_failed, requests_superseded,
                         resumed, bytes, tags);
PACELINE_DOCUMENT_FIELDS(History, 3, schema, tool, studies);
PACELINE_DOCUMENT_FIELDS(TunedWay, 9, arm, draft_n_max, draft_p_min, tokens_per_pass, acceptance,
                         guessed, passes_per_s, tokens_per_s, speedup);
PACELINE_DOCUMENT_FIELDS(TunedMix, 3, arm, pat_decode, speedup);
PACELINE_DOCUMENT_FIELDS(TunedClass, 7, name, texts, tokens, ways, fastest, most_accepting,
                         most_tokens);
PACELINE_DOCUMENT_FIELDS(TunedMeasurement, 6, arm, workload_class, tokens_per_pass, tokens_per_s,
                         speedup, predicted_speedup);
PACELINE_DOCUMENT_FIELDS(TunedEffort, 7, texts_s, maps_s, timing_s, confirmation_s, grid_s,
                         grid_is_measured, share);
PACELINE_DOCUMENT_FIELDS(TunedCheck, 4, requests, requests_equal, passes, differences);
PACELINE_DOCUMENT_FIELDS(Tune, 17, schema, tool, created, trace_id, confirmation_trace_id, model,
                         workload, mix, maps, classes, total, best, check, confirmed, grid, effort,
                         notes);

std::string to_json_text(const Document& document) { return util::dump_json(document); }

std::string to_json_text(const Inspection& inspection) { return util::dump_json(inspection); }

std::string to_json_text(const MachineReport& report) { return util::dump_json(report); }

std::string to_json_text(const Roofline& roofline) { return util::dump_json(roofline); }

std::string to_json_text(const History& history) { return util::dump_json(history); }
std::string to_json_text(const Tune& tune) { return util::dump_json(tune); }

const char* warning_name(WarningKind kind) { return util::enum_name(kind); }

}  // namespace paceline::document
