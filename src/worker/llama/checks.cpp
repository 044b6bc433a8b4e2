#include "worker/llama/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "model/drafter.hpp"
#include "trace/names.hpp"
#include "util/printable.hpp"
#include "worker/llama/ngram.hpp"
#include "worker/llama/pairing.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/vocabulary.hpp"

namespace paceline::worker {

namespace {

using trace::SpecType;

constexpr int most_context = 1 << 30;
constexpr int most_threads = 1024;
constexpr int default_n_max = 3;        // llama-server's --spec-draft-n-max
constexpr std::size_t eagle3_taps = 3;  // llama.cpp takes no other number

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

/// The drafter's own file, which has to be there and of the architecture that the type runs.
util::Result<void> check_drafter_file(SpecType type, std::string_view architecture,
                                      const model::Gguf* drafter) {
  const char* name = util::enum_name(type);
  if (drafter == nullptr) return refuse("{} needs a drafter file: name it with -md.", name);
  if (drafter->architecture() != architecture)
    return refuse(
        "'{}' is of architecture '{}', and {} runs drafters of architecture '{}': name one with "
        "-md, or take another --spec-type.",
        drafter->path(), drafter->architecture(), name, architecture);
  return {};
}

util::Result<void> check_taps(const model::Gguf& target, const model::Gguf& drafter,
                              std::int64_t last) {
  const auto taps = drafter.own_numbers("target_layers");
  if (!taps || taps->empty())
    return refuse(
        "The drafter '{}' does not say which target layers it reads "
        "({}.target_layers): convert it again.",
        drafter.path(), drafter.architecture());
  for (const std::int64_t tap : *taps)
    if (tap < 0 || tap > last)
      return refuse(
          "The drafter '{}' reads layer {} of its target, but of '{}' layers 0 to {} can be read: "
          "use the drafter that was trained for this target.",
          drafter.path(), tap, target.path(), last);
  return {};
}

bool has_tensor(const model::Gguf& file, std::string_view name) {
  return std::any_of(file.tensors().begin(), file.tensors().end(),
                     [&](const model::Tensor& tensor) { return tensor.name == name; });
}

util::Result<void> check_same_width(const model::Gguf& target, const model::Gguf& drafter) {
  return check_same(target, drafter, "embedding length", target.own_number("embedding_length"),
                    drafter.own_number("embedding_length"));
}

util::Result<model::Block> check_block(const model::Gguf& drafter) {
  const model::Block block = model::block_of(drafter);
  // Blocks attend in both directions, so that one has to fit into one piece of a decode call.
  if (block.size < 2 || block.size > ubatch_tokens)
    return refuse("The drafter '{}' has a block size of {}; 2 to {} can be run: convert it again.",
                  drafter.path(), block.size, ubatch_tokens);
  return block;
}

/// llama.cpp would run either kind under the other's name, and read its rows one place off.
util::Result<void> check_markov_head(SpecType type, const model::Gguf& drafter) {
  const bool markov = model::dflash_kind(drafter) == "dspark";
  if (markov != (type == SpecType::draft_dspark))
    return refuse("'{}' {} Markov head, so that it {} a DSpark drafter: take --spec-type {}.",
                  drafter.path(), markov ? "has a" : "has no", markov ? "is" : "is not",
                  markov ? "draft-dspark" : "draft-dflash");
  // Where llama.cpp's graph ends the process instead of guessing.
  if (markov && !drafter.own_number("block_size"))
    return refuse(
        "The drafter '{}' does not say its block size (dflash.block_size): convert it again.",
        drafter.path());
  return {};
}

util::Result<DraftPlan> plan_block(const trace::Setup& setup, const model::Gguf& target,
                                   const model::Gguf* drafter) {
  const int n_max = setup.draft_n_max;
  PACELINE_TRY(check_drafter_file(setup.spec_type, "dflash", drafter));
  PACELINE_TRY(check_markov_head(setup.spec_type, *drafter));
  PACELINE_TRY(check_same_width(target, *drafter));
  PACELINE_TRY(check_vocabulary(target, *drafter));
  PACELINE_TRY(check_hands_out_layers(target, *drafter));
  PACELINE_TRY(check_taps(target, *drafter, target.trunk_layers().value_or(0) - 1));
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

util::Result<void> check_eagle3_shape(const model::Gguf& drafter) {
  const auto taps = drafter.own_numbers("target_layers");
  if (taps && taps->size() != eagle3_taps)
    return refuse("The drafter '{}' reads {} target layers; {} can be run: convert it again.",
                  drafter.path(), taps->size(), eagle3_taps);
  const std::int64_t blocks = drafter.own_number("block_count").value_or(0);
  if (blocks != 1)
    return refuse("The drafter '{}' has {} blocks; an EAGLE3 drafter has 1: convert it again.",
                  drafter.path(), blocks);
  return {};
}

util::Result<DraftPlan> plan_eagle3(int n_max, const model::Gguf& target,
                                    const model::Gguf* drafter) {
  PACELINE_TRY(check_drafter_file(SpecType::draft_eagle3, "eagle3", drafter));
  PACELINE_TRY(check_eagle3_shape(*drafter));
  PACELINE_TRY(check_same(target, *drafter, "target's hidden size",
                          target.own_number("embedding_length"),
                          drafter->own_number("target_hidden_size")));
  // What the file lacks is the target's, whose rows are as wide as the target.
  if (!has_tensor(*drafter, "token_embd.weight") || !has_tensor(*drafter, "output.weight"))
    PACELINE_TRY(check_same_width(target, *drafter));
  PACELINE_TRY(check_vocabulary(target, *drafter));
  PACELINE_TRY(check_hands_out_layers(target, *drafter));
  // One past the last layer is what the last layer gives.
  const std::int64_t past_last = target.trunk_layers().value_or(0);
  PACELINE_TRY(check_taps(target, *drafter, past_last));
  const auto taps = drafter->own_numbers("target_layers");
  if (std::find(taps->begin(), taps->end(), past_last) != taps->end()) {
    PACELINE_TRY(check_hands_out_last_rows(target, *drafter));
  }
  return stepwise(n_max);
}

util::Result<DraftPlan> plan_mtp(int n_max, const model::Gguf& target, const model::Gguf* drafter) {
  const model::Gguf& holder = drafter != nullptr ? *drafter : target;
  if (holder.own_number("nextn_predict_layers").value_or(0) < 1)
    return refuse(
        "{} has no MTP block (no {}.nextn_predict_layers in '{}'): use a file that was "
        "converted with it or another --spec-type.",
        drafter != nullptr ? "The drafter" : "The target", holder.architecture(), holder.path());
  PACELINE_TRY(check_mtp_block(holder));
  if (drafter != nullptr) {
    PACELINE_TRY(check_mtp_file(target, *drafter));
    PACELINE_TRY(check_vocabulary(target, *drafter));
  }
  return stepwise(n_max);
}

util::Result<DraftPlan> plan_simple(int n_max, const model::Gguf& target,
                                    const model::Gguf* drafter) {
  if (drafter == nullptr) return refuse("draft-simple needs a drafter file: name it with -md.");
  if (model::is_drafter_architecture(drafter->architecture()))
    return refuse(
        "'{}' is a drafter of architecture '{}', which cannot run as a model of its own: leave "
        "--spec-type out, or name a small ordinary model with -md.",
        drafter->path(), drafter->architecture());
  PACELINE_TRY(check_same_tokens(target, *drafter));
  return stepwise(n_max);
}

int longest_of(const trace::NgramSizes& sizes) {
  return sizes.size_m.value_or(trace::ngram_cache_draft);
}

util::Result<DraftPlan> plan_ngram(const trace::Setup& setup) {
  PACELINE_TRY_ASSIGN(const trace::NgramSizes sizes, effective_sizes(setup.spec_type, setup.ngram));
  return DraftPlan{.n_max = longest_of(sizes), .block = std::nullopt, .ngram = sizes};
}

util::Result<void> check_ngram_setup(const trace::Setup& setup) {
  const char* type = util::enum_name(setup.spec_type);
  if (setup.draft_path)
    return refuse("{} drafts from the text itself and has no use for the file '{}': leave -md out.",
                  type, *setup.draft_path);
  if (setup.draft_p_min != 0)
    return refuse("{} gives its drafts no probability: leave --spec-draft-p-min out.", type);
  if (setup.draft_n_max != 0)
    return refuse("The longest draft of {} is one of its own sizes: leave --spec-draft-n-max out.",
                  type);
  return {};
}

/// llama.cpp asks n-grams in one order and drafters with a model last, whatever was written, and
/// would run one that is named twice once.
util::Result<void> check_order(const trace::Setup& setup) {
  const auto types = trace::drafters_of(setup);
  for (std::size_t i = 0; i + 1 < types.size(); ++i) {
    const bool in_order =
        trace::is_ngram(types[i]) && (!trace::is_ngram(types[i + 1]) || types[i] < types[i + 1]);
    if (!in_order)
      return refuse(
          "{} cannot be asked before {}: n-grams come first, in llama.cpp's order, and "
          "one drafter with a model last.",
          util::enum_name(types[i]), util::enum_name(types[i + 1]));
  }
  return {};
}

util::Result<void> check_kv(const trace::Setup& setup) {
  for (const auto* asked : {&setup.kv.k, &setup.kv.v, &setup.draft_kv.k, &setup.draft_kv.v})
    if (!kv_type(*asked))
      return refuse("'{}' is no type of a KV cache: take one of {}.", util::printable(**asked),
                    fmt::join(trace::kv_cache_types, ", "));
  const bool drafter_has_cache =
      setup.spec_type != SpecType::none && !trace::is_ngram(setup.spec_type);
  if ((setup.draft_kv.k || setup.draft_kv.v) && !drafter_has_cache)
    return refuse(
        "Types of a drafter's KV cache are given and no drafter has one: leave them out.");
  return {};
}

util::Result<DraftPlan> plan_last(const trace::Setup& setup, const model::Gguf& target,
                                  const model::Gguf* drafter) {
  switch (setup.spec_type) {
    case SpecType::draft_dflash:
    case SpecType::draft_dspark:
      return plan_block(setup, target, drafter);
    case SpecType::draft_eagle3:
      return plan_eagle3(setup.draft_n_max, target, drafter);
    case SpecType::draft_mtp:
      return plan_mtp(setup.draft_n_max, target, drafter);
    case SpecType::draft_simple:
      return plan_simple(setup.draft_n_max, target, drafter);
    case SpecType::ngram_simple:
    case SpecType::ngram_map_k:
    case SpecType::ngram_map_k4v:
    case SpecType::ngram_mod:
    case SpecType::ngram_cache:
      return plan_ngram(setup);
    case SpecType::none:
    case SpecType::undeclared:
      break;
  }
  return DraftPlan{};
}

}  // namespace

int DraftPlan::longest() const {
  int longest = n_max;
  for (const auto& one : asked_first) longest = std::max(longest, longest_of(one.sizes));
  return longest;
}

std::optional<ggml_type> kv_type(const std::optional<std::string>& asked) {
  if (!asked) return GGML_TYPE_F16;
  const auto& names = trace::kv_cache_types;
  if (std::find(names.begin(), names.end(), *asked) == names.end()) return std::nullopt;
  for (int type = 0; type < GGML_TYPE_COUNT; ++type)
    if (*asked == ggml_type_name(static_cast<ggml_type>(type))) return static_cast<ggml_type>(type);
  return std::nullopt;
}

util::Result<void> check_setup(const trace::Setup& setup) {
  if (setup.n_ctx < 1 || setup.n_ctx > most_context)
    return refuse("A context of {} tokens cannot be made: -c takes 1 to {}.", setup.n_ctx,
                  most_context);
  if (setup.threads < 1 || setup.threads > most_threads)
    return refuse("{} threads cannot be used: -t takes 1 to {}.", setup.threads, most_threads);
  PACELINE_TRY(check_order(setup));
  PACELINE_TRY(check_kv(setup));
  if (setup.spec_type == SpecType::none && setup.draft_path)
    return refuse(
        "A drafter file '{}' is given and no way to use it: name a --spec-type, as in --spec-type "
        "draft-dflash, or leave -md out.",
        *setup.draft_path);
  if (setup.spec_type == SpecType::none && setup.forced)
    return refuse("Without a drafter there is no acceptance to force: leave --accept-.. out.");
  if (trace::is_ngram(setup.spec_type)) return check_ngram_setup(setup);
  if (!(setup.draft_p_min >= 0 && setup.draft_p_min <= 1))
    return refuse("A draft cannot end below a probability of {}: --spec-draft-p-min takes 0 to 1.",
                  setup.draft_p_min);
  if (setup.draft_n_max < 0 || setup.draft_n_max >= batch_tokens)
    return refuse(
        "A draft of {} tokens cannot be verified in one pass: --spec-draft-n-max takes "
        "0 (the drafter's own longest) to {}.",
        setup.draft_n_max, batch_tokens - 1);
  return {};
}

util::Result<DraftPlan> plan_drafts(const trace::Setup& setup, const model::Gguf& target,
                                    const model::Gguf* drafter) {
  PACELINE_TRY_ASSIGN(DraftPlan plan, plan_last(setup, target, drafter));
  for (const auto& [type, asked] : setup.asked_first) {
    PACELINE_TRY_ASSIGN(const trace::NgramSizes sizes, effective_sizes(type, asked));
    plan.asked_first.push_back({type, sizes});
  }
  return plan;
}

}  // namespace paceline::worker
