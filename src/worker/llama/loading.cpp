#include "worker/llama/loading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "llama-ext.h"
#include "model/gguf.hpp"
#include "model/laboratory.hpp"
#include "worker/forced_acceptance.hpp"
#include "worker/llama/checks.hpp"
#include "worker/llama/context_need.hpp"
#include "worker/llama/facts.hpp"
#include "worker/llama/graph_watch.hpp"
#include "worker/llama/loadable.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/ngram.hpp"
#include "worker/llama/projector.hpp"
#include "worker/llama/runtime.hpp"
#include "worker/llama/sampling.hpp"

namespace paceline::worker {

namespace {

constexpr int narrowest_probe_limit = 16;

tl::unexpected<util::Error> not_loaded(const std::string& path, const std::string& what) {
  return util::fail(util::ErrorKind::engine,
                    fmt::format("llama.cpp could not {} '{}': {}", what, path, library_reason()));
}

/// The files of a setup, read far enough to decide whether loading can work.
struct Files {
  model::Gguf target;
  std::optional<model::Gguf> drafter;
  std::optional<model::Gguf> projector;
  DraftPlan plan;
};

util::Result<Files> read_files(const trace::Setup& setup) {
  PACELINE_TRY(model::check_laboratory_file(setup.model_path));
  PACELINE_TRY_ASSIGN(model::Gguf target, model::Gguf::open(setup.model_path));
  PACELINE_TRY(check_target(target));
  std::optional<model::Gguf> drafter;
  if (setup.draft_path) {
    PACELINE_TRY(model::check_laboratory_file(*setup.draft_path));
    PACELINE_TRY_ASSIGN(drafter, model::Gguf::open(*setup.draft_path));
    PACELINE_TRY(check_loadable(*drafter));
  }
  PACELINE_TRY_ASSIGN(const DraftPlan plan,
                      plan_drafts(setup, target, drafter ? &*drafter : nullptr));
  if (setup.forced) PACELINE_TRY(accept_rates(*setup.forced, plan.longest()));
  std::optional<model::Gguf> projector;
  if (setup.mmproj_path) {
    PACELINE_TRY_ASSIGN(projector, model::Gguf::open(*setup.mmproj_path));
    PACELINE_TRY(check_projector(*projector));
  }
  return Files{std::move(target), std::move(drafter), std::move(projector), plan};
}

/// As llama-server's defaults, where llama.cpp's own differ.
llama_context_params context_parameters(const LoadedModel& model, const trace::KvTypes& kv,
                                        unsigned snapshots) {
  llama_context_params parameters = llama_context_default_params();
  parameters.n_ctx = static_cast<unsigned>(model.setup.n_ctx);
  parameters.n_batch = batch_tokens;
  parameters.n_ubatch = ubatch_tokens;
  parameters.n_seq_max = 1;
  parameters.n_rs_seq = snapshots;
  parameters.n_threads = parameters.n_threads_batch = model.setup.threads;
  parameters.n_outputs_max = static_cast<unsigned>(model.widest_pass);
  parameters.n_outputs_max_per_seq = parameters.n_outputs_max;
  parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_AUTO;
  parameters.type_k = kv_type(kv.k).value();
  parameters.type_v = kv_type(kv.v).value();
  parameters.swa_full = false;
  parameters.no_perf = true;
  return parameters;
}

/// How the target is loaded, and its context.
struct TargetParameters {
  llama_model_params model;
  llama_context_params context;
  std::optional<ContextNeed> need = {};  ///< of the context; absent: llama.cpp does not plan it
};

TargetParameters target_parameters(const LoadedModel& model, Snapshots snapshots) {
  TargetParameters parameters{
      llama_model_default_params(),
      context_parameters(model, model.setup.kv,
                         snapshots.value_or(model.speculative.need_n_rs_seq()))};
  parameters.model.load_mtp = model.setup.spec_type == trace::SpecType::draft_mtp;
  parameters.need = plan_context(model.setup.model_path, parameters.model, parameters.context);
  return parameters;
}

/// A cache that the main memory cannot hold would not be refused but written to, until the system
/// ends some process.
util::Result<void> check_room(const LoadedModel& model, const std::optional<ContextNeed>& need) {
  const auto left = main_memory_left();
  if (!need || !left || need->main_memory_bytes <= *left) return {};
  return util::fail(
      util::ErrorKind::engine,
      fmt::format("A context of {} tokens for '{}' needs more memory than there is: {}, of which "
                  "{} bytes in the main memory, where {} are left; take a smaller -c, or KV types "
                  "of fewer bits (-ctk, -ctv).",
                  model.setup.n_ctx, model.setup.model_path, need_text(*need),
                  need->main_memory_bytes, *left));
}

util::Result<void> load_target(LoadedModel& model, const TargetParameters& parameters) {
  model.target_model.reset(
      llama_model_load_from_file(model.setup.model_path.c_str(), parameters.model));
  if (model.target_model == nullptr) return not_loaded(model.setup.model_path, "load");
  llama_context_params context = parameters.context;
  if (model.watches.target != nullptr) model.watches.target->attach(context);
  model.target.reset(llama_init_from_model(model.target_model.get(), context));
  if (model.target == nullptr)
    return not_loaded(model.setup.model_path,
                      parameters.need ? "make a context (" + need_text(*parameters.need) + ") for"
                                      : "make a context for");
  model.facts.cache_type_k = ggml_type_name(context.type_k);
  model.facts.cache_type_v = ggml_type_name(context.type_v);
  model.target_rollback = common_context_can_seq_rm(model.target.get());
  model.facts.target_placement = placement_of(model.target_model.get());
  return {};
}

util::Result<void> load_drafter_model(LoadedModel& model) {
  if (!model.setup.draft_path) return {};
  llama_model_params parameters = llama_model_default_params();
  parameters.load_mtp = model.setup.spec_type == trace::SpecType::draft_mtp;
  model.drafter_model.reset(
      llama_model_load_from_file(model.setup.draft_path->c_str(), parameters));
  if (model.drafter_model == nullptr) return not_loaded(*model.setup.draft_path, "load");
  const int theirs = llama_model_n_embd_out(model.drafter_model.get());
  const int ours = llama_model_n_embd_out(model.target_model.get());
  if (model.setup.spec_type == trace::SpecType::draft_mtp && theirs != ours)
    return util::fail(util::ErrorKind::engine,
                      fmt::format("The drafter '{}' reads hidden rows of {} numbers, the target "
                                  "has {}: use the drafter that was trained for this target.",
                                  *model.setup.draft_path, theirs, ours));
  return {};
}

// As common_base_params_to_speculative and common_speculative_init_from_params set it up.
util::Result<void> load_drafter(LoadedModel& model, int block_outputs) {
  PACELINE_TRY(load_drafter_model(model));
  llama_context_params parameters = context_parameters(model, model.setup.draft_kv, 0);
  parameters.n_ctx = llama_n_ctx(model.target.get());
  parameters.ctx_other = model.target.get();
  parameters.n_outputs_max = static_cast<unsigned>(block_outputs);
  parameters.n_outputs_max_per_seq = model.setup.backend_sampling ? parameters.n_outputs_max : 1;
  if (model.setup.spec_type == trace::SpecType::draft_mtp)
    parameters.ctx_type = LLAMA_CONTEXT_TYPE_MTP;
  if (model.watches.drafter != nullptr) model.watches.drafter->attach(parameters);
  llama_model* weights =
      model.drafter_model != nullptr ? model.drafter_model.get() : model.target_model.get();
  model.drafter.reset(llama_init_from_model(weights, parameters));
  if (model.drafter == nullptr)
    return not_loaded(model.setup.draft_path.value_or(model.setup.model_path),
                      "make a drafter's context for");
  model.facts.draft_cache_type_k = ggml_type_name(parameters.type_k);
  model.facts.draft_cache_type_v = ggml_type_name(parameters.type_v);
  model.drafter_rollback = common_context_can_seq_rm(model.drafter.get());
  model.facts.drafter_placement = placement_of(weights);
  model.speculative.draft.ctx_tgt = model.target.get();
  model.speculative.draft.ctx_dft = model.drafter.get();
  return {};
}

/// One short draft of the drafter that has a model: that drafting works at all, and how many
/// candidates the device leaves for each place of it; 0: the logits went to the host.
util::Result<int> try_draft(LoadedModel& model) {
  // Whatever it would keep back is to be drafted here.
  PACELINE_TRY(model.reset(DrafterState::fresh, trace::Drafting{model.speculative.draft.n_max, 0}));
  model.batch.clear();
  model.batch.add(0, 0, false);
  model.batch.add(0, 1, true);
  PACELINE_TRY(decode(model.target.get(), model.batch));
  if (!model.drafters.process(model.batch.raw()))
    return not_loaded(model.setup.model_path, "feed the drafter of");
  const llama_tokens past(2, 0);
  model.drafters.begin(past);
  llama_tokens draft;
  model.drafters.draft_with_model(
      {.past = past, .last = 0, .room = model.drafters.longest_of_last()}, draft);
  if (draft.empty()) return not_loaded(model.setup.model_path, "draft for");
  // DFlash2 picks its candidates in its own graph, where no sampler is attached.
  const llama_model* weights = llama_get_model(model.drafter.get());
  if (const int in_graph = llama_model_dflash_selector_top_k(weights); in_graph > 0)
    return in_graph;
  return static_cast<int>(llama_get_sampled_candidates_count_ith(model.drafter.get(), -1));
}

common_params_speculative speculative_parameters(const trace::Setup& setup, const DraftPlan& plan) {
  common_params_speculative parameters;
  parameters.types.clear();
  for (const trace::SpecType type : trace::drafters_of(setup))
    parameters.types.push_back(library_type(type));
  parameters.draft.n_max = plan.n_max;
  parameters.draft.p_min = static_cast<float>(setup.draft_p_min);
  parameters.draft.backend_sampling = setup.backend_sampling;
  if (plan.ngram) set_sizes(setup.spec_type, *plan.ngram, parameters);
  for (const auto& [type, sizes] : plan.asked_first) set_sizes(type, sizes, parameters);
  return parameters;
}

util::Result<void> set_up_drafting(LoadedModel& model, const DraftPlan& plan) {
  // Looking n-grams up is the host's work.
  model.facts.draft_on_device = false;
  if (model.has_drafter_context()) {
    PACELINE_TRY_ASSIGN(const int candidates, try_draft(model));
    model.facts.draft_on_device = candidates > 0;
    if (candidates > 0) model.facts.draft_candidates = candidates;
  } else {
    PACELINE_TRY(model.reset());
  }
  model.longest_draft = model.drafters.longest();
  model.facts.draft_n_max = model.drafters.longest_of_last();
  if (model.setup.forced) {
    PACELINE_TRY_ASSIGN(model.facts.forced_rates,
                        accept_rates(*model.setup.forced, model.longest_draft));
  }
  model.facts.draft_block = plan.block;
  model.facts.ngram = plan.ngram;
  model.facts.asked_first = plan.asked_first;
  return {};
}

util::Result<LoadedModelPtr> load_checked(const trace::Setup& setup,
                                          const trace::Sampling& sampling, Snapshots snapshots,
                                          Watches watches) {
  PACELINE_TRY(check_setup(setup));
  PACELINE_TRY_ASSIGN(const Files files, read_files(setup));
  PACELINE_TRY(start_runtime());
  LoadedModelPtr model(new LoadedModel);
  model->setup = setup;
  model->room_before_load = device_room();
  model->watches = watches;
  model->speculative = speculative_parameters(setup, files.plan);
  const int longest = model->speculates() ? files.plan.longest() : setup.draft_n_max;
  model->widest_pass = std::max(narrowest_probe_limit, longest + 1);
  const TargetParameters parameters = target_parameters(*model, snapshots);
  PACELINE_TRY(check_room(*model, parameters.need));
  take_library_error();
  take_placement_log();
  const trace::Nanoseconds began = now_ns();
  PACELINE_TRY(load_target(*model, parameters));
  if (model->speculates() && !files.plan.ngram)
    PACELINE_TRY(load_drafter(*model, files.plan.block ? files.plan.n_max + 1 : 1));
  PACELINE_TRY_ASSIGN(ResolvedSampling resolved,
                      resolve_sampling(model->target_model.get(), sampling));
  model->facts.sampling = std::move(resolved.effective);
  model->facts.load_s = static_cast<double>(now_ns() - began) * 1e-9;
  if (files.projector) PACELINE_TRY(load_projector(*model, *files.projector));
  if (model->speculates()) PACELINE_TRY(set_up_drafting(*model, files.plan));
  fill_facts(*model, files.target, files.drafter ? &*files.drafter : nullptr);
  PACELINE_TRY(model->reset());
  return model;
}

}  // namespace

void LoadedModelDeleter::operator()(LoadedModel* model) const { delete model; }

const trace::EngineFacts& facts(const LoadedModel& model) { return model.facts; }

util::Result<void> check(const trace::Setup& setup) {
  PACELINE_TRY(check_setup(setup));
  PACELINE_TRY(read_files(setup));
  return {};
}

util::Result<LoadedModelPtr> load(const trace::Setup& setup, const trace::Sampling& sampling,
                                  Snapshots snapshots, Watches watches) {
  try {
    return load_checked(setup, sampling, snapshots, watches);
  } catch (const std::exception& problem) {
    return util::fail(util::ErrorKind::engine, fmt::format("llama.cpp could not run '{}': {}",
                                                           setup.model_path, problem.what()));
  }
}

}  // namespace paceline::worker
