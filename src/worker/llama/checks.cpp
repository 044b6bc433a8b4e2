#include "worker/llama/checks.hpp"

#include <fmt/format.h>

#include "model/drafter.hpp"
#include "trace/json.hpp"
#include "worker/llama/ngram.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/vocabulary.hpp"

namespace paceline::worker {

namespace {

using trace::SpecType;

constexpr int most_context = 1 << 20;
constexpr int most_threads = 1024;
constexpr int default_n_max = 3;  // llama-server's --spec-draft-n-max

util::Result<void> check_same(const model::Gguf& target, const model::Gguf& drafter,
                              const char* what, std::optional<std::int64_t> of_target,
                              std::optional<std::int64_t> of_drafter) {
  if (of_target == of_drafter) return {};
  const auto shown = [](std::optional<std::int64_t> value) {
    return value ? std::to_string(*value) : std::string("nothing");
  };
  return refuse(
      "The drafter '{}' does not fit the target '{}': its {} is {}, the target's is {}; use the "
      "drafter that was trained for this target.",
      drafter.path(), target.path(), what, shown(of_drafter), shown(of_target));
}

util::Result<void> check_vocabulary(const model::Gguf& target, const model::Gguf& drafter) {
  if (!drafter.vocabulary()) return {};
  return check_same(target, drafter, "vocabulary", target.vocabulary(), drafter.vocabulary());
}

util::Result<void> check_taps(const model::Gguf& target, const model::Gguf& drafter) {
  const auto taps = drafter.own_numbers("target_layers");
  if (!taps || taps->empty())
    return refuse(
        "The drafter '{}' does not say which target layers it reads "
        "(dflash.target_layers): convert it again.",
        drafter.path());
  const std::int64_t layers = target.trunk_layers().value_or(0);
  for (const std::int64_t tap : *taps)
    if (tap < 0 || tap >= layers)
      return refuse(
          "The drafter '{}' reads layer {} of its target, but '{}' has layers 0 to {}: "
          "use the drafter that was trained for this target.",
          drafter.path(), tap, target.path(), layers - 1);
  return {};
}

util::Result<model::Block> check_block(const model::Gguf& drafter) {
  const model::Block block = model::block_of(drafter);
  // Blocks attend in both directions, so that one has to fit into one piece of a decode call.
  if (block.size < 2 || block.size > ubatch_tokens)
    return refuse("The drafter '{}' has a block size of {}; 2 to {} can be run: convert it again.",
                  drafter.path(), block.size, ubatch_tokens);
  return block;
}

/// llama.cpp would run a DSpark file as DFlash, a row off, and a DFlash file as DSpark.
util::Result<void> check_kind(SpecType type, const model::Gguf& drafter) {
  if (drafter.architecture() != "dflash")
    return refuse(
        "'{}' is of architecture '{}' and no DFlash drafter: name a dflash GGUF with "
        "-md or another --spec-type.",
        drafter.path(), drafter.architecture());
  const bool markov = model::dflash_kind(drafter) == "dspark";
  if (markov == (type == SpecType::draft_dspark)) {
    // Where llama.cpp's graph ends the process instead of guessing.
    if (markov && !drafter.own_number("block_size"))
      return refuse(
          "The drafter '{}' does not say its block size (dflash.block_size): convert it again.",
          drafter.path());
    return {};
  }
  return refuse("'{}' {} Markov head, so that it {} a DSpark drafter: take --spec-type {}.",
                drafter.path(), markov ? "has a" : "has no", markov ? "is" : "is not",
                markov ? "draft-dspark" : "draft-dflash");
}

util::Result<DraftPlan> plan_block(const trace::Setup& setup, const model::Gguf& target,
                                   const model::Gguf* drafter) {
  const int n_max = setup.draft_n_max;
  if (drafter == nullptr)
    return refuse("{} needs a drafter file: name it with -md.", util::enum_name(setup.spec_type));
  PACELINE_TRY(check_kind(setup.spec_type, *drafter));
  PACELINE_TRY(check_same(target, *drafter, "embedding length",
                          target.own_number("embedding_length"),
                          drafter->own_number("embedding_length")));
  PACELINE_TRY(check_vocabulary(target, *drafter));
  PACELINE_TRY(check_taps(target, *drafter));
  if (!drafter->number("tokenizer.ggml.mask_token_id"))
    return refuse(
        "The drafter '{}' has no mask token (tokenizer.ggml.mask_token_id), without "
        "which it cannot draft: convert it again.",
        drafter->path());
  PACELINE_TRY_ASSIGN(const model::Block block, check_block(*drafter));
  const int longest = static_cast<int>(block.longest_draft);
  // llama.cpp would draft fewer without a word, under the name of the length that was asked for.
  if (n_max > longest)
    return refuse(
        "Drafts of {} tokens were asked for, but the block of '{}' makes at most {}: take "
        "--spec-draft-n-max 1 to {}, or leave it out for the longest.",
        n_max, drafter->path(), longest, longest);
  return DraftPlan{.n_max = n_max == 0 ? longest : n_max,
                   .block = static_cast<int>(block.size),
                   .ngram = std::nullopt};
}

/// Of a drafter that makes one token after the other, as many as it is asked for.
DraftPlan stepwise(int n_max) {
  return {
      .n_max = n_max == 0 ? default_n_max : n_max, .block = std::nullopt, .ngram = std::nullopt};
}

util::Result<DraftPlan> plan_mtp(int n_max, const model::Gguf& target, const model::Gguf* drafter) {
  const model::Gguf& holder = drafter != nullptr ? *drafter : target;
  if (holder.own_number("nextn_predict_layers").value_or(0) < 1)
    return refuse(
        "{} has no MTP block (no {}.nextn_predict_layers in '{}'): use a file that was "
        "converted with it or another --spec-type.",
        drafter != nullptr ? "The drafter" : "The target", holder.architecture(), holder.path());
  if (drafter != nullptr) PACELINE_TRY(check_vocabulary(target, *drafter));
  return stepwise(n_max);
}

util::Result<DraftPlan> plan_simple(int n_max, const model::Gguf& target,
                                    const model::Gguf* drafter) {
  if (drafter == nullptr) return refuse("draft-simple needs a drafter file: name it with -md.");
  if (drafter->architecture() == "dflash")
    return refuse(
        "'{}' is a DFlash drafter, which cannot run as a model of its own: take --spec-type {}, or "
        "name a small ordinary model with -md.",
        drafter->path(),
        model::dflash_kind(*drafter) == "dspark" ? "draft-dspark" : "draft-dflash");
  PACELINE_TRY(check_same_tokens(target, *drafter));
  return stepwise(n_max);
}

util::Result<DraftPlan> plan_ngram(const trace::Setup& setup) {
  PACELINE_TRY_ASSIGN(const trace::NgramSizes sizes, effective_sizes(setup.spec_type, setup.ngram));
  return DraftPlan{.n_max = *sizes.size_m, .block = std::nullopt, .ngram = sizes};
}

util::Result<void> check_ngram_setup(const trace::Setup& setup) {
  const char* type = util::enum_name(setup.spec_type);
  if (setup.draft_path)
    return refuse("{} drafts from the text itself and has no use for the file '{}': leave -md out.",
                  type, *setup.draft_path);
  if (setup.draft_n_max != 0)
    return refuse("The longest draft of {} is one of its own sizes: leave --spec-draft-n-max out.",
                  type);
  return {};
}

}  // namespace

util::Result<void> check_setup(const trace::Setup& setup) {
  if (setup.n_ctx < 1 || setup.n_ctx > most_context)
    return refuse("A context of {} tokens cannot be made: -c takes 1 to {}.", setup.n_ctx,
                  most_context);
  if (setup.threads < 1 || setup.threads > most_threads)
    return refuse("{} threads cannot be used: -t takes 1 to {}.", setup.threads, most_threads);
  if (setup.spec_type == SpecType::none && setup.draft_path)
    return refuse(
        "A drafter file '{}' is given and no way to use it: name --spec-type "
        "draft-dflash, draft-dspark, draft-mtp or draft-simple, or leave -md out.",
        *setup.draft_path);
  if (trace::is_ngram(setup.spec_type)) return check_ngram_setup(setup);
  if (setup.spec_type != SpecType::none &&
      (setup.draft_n_max < 0 || setup.draft_n_max >= batch_tokens))
    return refuse(
        "A draft of {} tokens cannot be verified in one pass: --spec-draft-n-max takes "
        "0 (the drafter's own longest) to {}.",
        setup.draft_n_max, batch_tokens - 1);
  return {};
}

util::Result<DraftPlan> plan_drafts(const trace::Setup& setup, const model::Gguf& target,
                                    const model::Gguf* drafter) {
  switch (setup.spec_type) {
    case SpecType::draft_dflash:
    case SpecType::draft_dspark:
      return plan_block(setup, target, drafter);
    case SpecType::draft_mtp:
      return plan_mtp(setup.draft_n_max, target, drafter);
    case SpecType::draft_simple:
      return plan_simple(setup.draft_n_max, target, drafter);
    case SpecType::ngram_simple:
    case SpecType::ngram_map_k:
    case SpecType::ngram_mod:
      return plan_ngram(setup);
    case SpecType::none:
    case SpecType::undeclared:
      break;
  }
  return DraftPlan{};
}

}  // namespace paceline::worker
