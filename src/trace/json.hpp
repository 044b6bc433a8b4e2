#pragma once

#include "model/json.hpp"
#include "trace/names.hpp"
#include "trace/sampling.hpp"
#include "util/json.hpp"

// JSON of every trace type: the trace file and the worker's frames carry the same records.

namespace paceline::trace {

PACELINE_ENUM_JSON(SpecType);
PACELINE_ENUM_JSON(AcceptSchedule);
PACELINE_ENUM_JSON(MapKind);
PACELINE_ENUM_JSON(PromptForm);
PACELINE_ENUM_JSON(Origin);
PACELINE_ENUM_JSON(Quantity);
PACELINE_ENUM_JSON(PassKind);
PACELINE_ENUM_JSON(OutcomeKind);
PACELINE_ENUM_JSON(StopReason);
PACELINE_ENUM_JSON(MemoryMoment);
PACELINE_ENUM_JSON(LoadLoop);
PACELINE_ENUM_JSON(SweepMethod);

PACELINE_JSON_FIELDS(NgramSizes, 4, size_n, size_m, min_hits, n_min);
PACELINE_JSON_FIELDS(Sampling, 14, temp, top_k, top_p, min_p, typical_p, top_n_sigma,
                     xtc_probability, xtc_threshold, penalty_last_n, penalty_repeat, penalty_freq,
                     penalty_present, samplers, tool_temp);
static_assert(asked_parameters.size() + 2 == boost::pfr::tuple_size_v<Sampling>,
              "a number of Sampling is missing in asked_parameters");
PACELINE_JSON_FIELDS(ForcedAcceptance, 3, length, schedule, rates);
PACELINE_JSON_FIELDS(NgramDrafter, 2, type, sizes);
PACELINE_JSON_FIELDS(Drafting, 2, n_max, p_min);
PACELINE_JSON_FIELDS(KvTypes, 2, k, v);
PACELINE_JSON_FIELDS(Setup, 17, model_path, draft_path, mmproj_path, spec_type, draft_n_max,
                     draft_p_min, ngram, asked_first, backend_sampling, forced, kv, draft_kv, n_ctx,
                     threads, server_bin, server_args, url);
PACELINE_JSON_FIELDS(Neutralised, 3, arm, parameter, value);
PACELINE_JSON_FIELDS(Arm, 5, name, setup, sampling, neutralised, plain);

PACELINE_JSON_FIELDS(Device, 5, name, type, description, memory_free_bytes, memory_total_bytes);
PACELINE_JSON_FIELDS(Devices, 1, list);
PACELINE_JSON_FIELDS(DeviceSpeed, 6, name, bytes, upload_bytes_per_s, download_bytes_per_s,
                     read_bytes_per_s, reason);
PACELINE_JSON_FIELDS(DeviceSpeeds, 1, list);
PACELINE_JSON_FIELDS(SamplingSetting, 3, name, value, origin);
PACELINE_JSON_FIELDS(EffectiveSampling, 4, settings, chain, chain_origin, unread);
PACELINE_JSON_FIELDS(DeviceAllocation, 7, name, model_bytes, context_bytes, compute_bytes,
                     total_bytes, free_before_bytes, free_after_bytes);
PACELINE_JSON_FIELDS(MemoryFacts, 5, model_bytes, context_bytes, compute_bytes, resident_bytes,
                     devices);
PACELINE_JSON_FIELDS(Ability, 3, quantity, source, reason);
PACELINE_JSON_FIELDS(ServerFacts, 16, dialect, chosen, url, model, quant, slots, n_ctx_slot,
                     speculates, spec_types, draft_n_max, forced_acceptance, takes_images,
                     command_line, binary_sha256, binary_is_script, abilities);
PACELINE_JSON_FIELDS(Placement, 4, devices, layers_offloaded, layers, graph_splits);
PACELINE_JSON_FIELDS(ProjectorFacts, 9, file, allocated_bytes, load_s, image_width, image_height,
                     image_tokens, prompt_tokens, encode_s, prefill_s);
PACELINE_JSON_FIELDS(EngineFacts, 30, engine, version, build, devices, target_placement,
                     drafter_placement, target, drafter, draft_block, ngram, asked_first,
                     draft_n_max, forced_rates, draft_on_device, draft_candidates, rollback,
                     sampling, n_ctx, n_batch, n_ubatch, threads, cache_type_k, cache_type_v,
                     draft_cache_type_k, draft_cache_type_v, flash_attention, memory, projector,
                     load_s, server);

PACELINE_JSON_FIELDS(Phases, 7, draft_ns, checkpoint_ns, verify_ns, process_ns, sample_ns,
                     accept_ns, rollback_ns);
PACELINE_JSON_FIELDS(Pass, 15, index, kind, drafter, attempts, generated, offered, tested, accepted,
                     superseded, width, depth, began_ns, ended_ns, phases, draft);
PACELINE_JSON_FIELDS(Emission, 6, pass, tokens, accepted, overshoot, at_ns, top2_gaps);
PACELINE_JSON_FIELDS(Prefill, 5, prompt_tokens, processed_tokens, began_ns, ended_ns, drafter_ns);
PACELINE_JSON_FIELDS(Neighbour, 2, name, cpu_s);
PACELINE_JSON_FIELDS(Noise, 8, steal_s, cpu_s, pressure_s, elapsed_s, clock_mhz, throttled,
                     involuntary_switches, neighbour);
PACELINE_JSON_FIELDS(Outcome, 5, kind, reason, signal, exit_code, log_tail);
PACELINE_JSON_FIELDS(Chunk, 8, arrived_ns, content_bytes, reasoning_bytes, tokens, output_tokens,
                     decode_ms, offered, accepted);
PACELINE_JSON_FIELDS(Said, 6, quantity, value, values, endpoint, field, rule);
PACELINE_JSON_FIELDS(Timeline, 4, scheduled_ns, sent_ns, first_byte_ns, ended_ns);
PACELINE_JSON_FIELDS(Answer, 6, endpoint, said, timeline, prompt_batches, sampling, oddities);
PACELINE_JSON_FIELDS(Counted, 3, value, rule, reason);
PACELINE_JSON_FIELDS(Tally, 18, passes, passes_speculative, passes_replay, attempts, generated,
                     offered, tested, accepted, overshoot, residual_passes, prompt_processed,
                     prompt_cached, offered_at, accepted_at, prefill_s, ttft_s, ttfo_s,
                     client_decode_s);
PACELINE_JSON_FIELDS(Request, 22, prompt_id, workload_class, family, repetition, filled_tokens,
                     warm_up, synced, excluded, seed, drafting, outcome, stop, eos_counted, prefill,
                     passes, emissions, text, disk_pages, noise, chunks, answer, tally);

PACELINE_JSON_FIELDS(WidthTime, 6, width, depth, on_filled, verify_ns, draft_ns, process_ns);
PACELINE_JSON_FIELDS(DeviceMemory, 2, device, bytes);
PACELINE_JSON_FIELDS(MemoryReading, 7, when, pss_bytes, reason, available_bytes, devices,
                     peak_bytes, peak_reason);
PACELINE_JSON_FIELDS(LoadCell, 13, loop, level, rate_per_s, planned, began_ns, ended_ns, requests,
                     counters_before, counters_after, client_cpu_s, lag_p50_s, lag_p99_s,
                     lag_max_s);
PACELINE_JSON_FIELDS(LogitDifference, 4, width, logits, p99, largest);
PACELINE_JSON_FIELDS(Margin, 4, workload_class, prompt_id, token, top2);
PACELINE_JSON_FIELDS(Rereading, 2, widths, margins);
PACELINE_JSON_FIELDS(DraftAsk, 4, drafting, places, offered, accepted);
PACELINE_JSON_FIELDS(DraftMap, 11, workload_class, prompt_id, family, kind, prompt_tokens, tokens,
                     ends_itself, reason, asks, began_ns, ended_ns);
PACELINE_JSON_FIELDS(Fill, 6, depth, tokens, began_ns, ended_ns, drafter_ns, memory);
PACELINE_JSON_FIELDS(FilledDepth, 4, asked_depth, outcome, fill, reading);
PACELINE_JSON_FIELDS(GatherTime, 5, name, row_bytes, table_bytes, ns_per_row, ns_per_disk_page);
PACELINE_JSON_FIELDS(MemorySpeed, 5, threads, read_bytes_per_s, llc_bytes, gathers, reason);
PACELINE_JSON_FIELDS(Launch, 14, index, round, arm, held_out, facts, outcome, memory_speed,
                     requests, widths, memory, loads, fills, rereadings, maps);
PACELINE_JSON_FIELDS(MixClass, 3, share, tokens_per_request, depth);
PACELINE_JSON_FIELDS(Mix, 2, name, classes);
PACELINE_JSON_FIELDS(Comparison, 8, a, b, again, a_says, b_says, margin, fail_if_slower, looks);
PACELINE_JSON_FIELDS(SweptOption, 2, name, values);
PACELINE_JSON_FIELDS(SweepPoint, 2, arm, values);
PACELINE_JSON_FIELDS(Sweep, 7, options, method, points, rungs, rule, held_out_rounds, no_held_out);
PACELINE_JSON_FIELDS(Header, 17, trace_id, created, tool_version, seed, rounds, n_predict, workload,
                     workload_notes, prompt_form, warm_session, force_text, mix, residency, arms,
                     comparison, exclude_steal, sweep);

PACELINE_JSON_FIELDS(Progress, 2, tokens, bytes);
PACELINE_JSON_FIELDS(Answered, 2, chunks, answer);
PACELINE_JSON_FIELDS(Finished, 5, outcome, stop, eos_counted, text, disk_pages);

PACELINE_ENUM_JSON(PassPart);
PACELINE_JSON_FIELDS(ClassRead, 2, name, bytes);
PACELINE_JSON_FIELDS(ObservedPass, 6, part, width, depth, forwards, classes, experts_per_layer);
PACELINE_JSON_FIELDS(ObservedTable, 8, name, row_bytes, table_bytes, tokens, gathers,
                     different_rows, on_the_same_page, pages_per_token);
PACELINE_JSON_FIELDS(ObservedExperts, 4, layers, count, picks, shares);
PACELINE_JSON_FIELDS(SpeculativeUnion, 5, width, passes, offered, accepted, experts_per_layer);
PACELINE_JSON_FIELDS(Observation, 4, passes, tables, experts, speculative);

}  // namespace paceline::trace
