#pragma once

#include "trace/event.hpp"
#include "trace/sampling.hpp"
#include "util/json.hpp"

// The names of every trace enumeration's values. trace/json.hpp, which is slow to compile, has the
// JSON of the types.

PACELINE_ENUM_NAMES(paceline::trace::SpecType, 12, {paceline::trace::SpecType::none, "none"},
                    {paceline::trace::SpecType::draft_simple, "draft-simple"},
                    {paceline::trace::SpecType::draft_mtp, "draft-mtp"},
                    {paceline::trace::SpecType::draft_dflash, "draft-dflash"},
                    {paceline::trace::SpecType::draft_eagle3, "draft-eagle3"},
                    {paceline::trace::SpecType::draft_dspark, "draft-dspark"},
                    {paceline::trace::SpecType::ngram_simple, "ngram-simple"},
                    {paceline::trace::SpecType::ngram_map_k, "ngram-map-k"},
                    {paceline::trace::SpecType::ngram_map_k4v, "ngram-map-k4v"},
                    {paceline::trace::SpecType::ngram_mod, "ngram-mod"},
                    {paceline::trace::SpecType::ngram_cache, "ngram-cache"},
                    {paceline::trace::SpecType::undeclared, "undeclared"});
PACELINE_ENUM_NAMES(paceline::trace::AcceptSchedule, 2,
                    {paceline::trace::AcceptSchedule::geometric, "geometric"},
                    {paceline::trace::AcceptSchedule::minimum_variance, "minimum-variance"});
PACELINE_ENUM_NAMES(paceline::trace::MapKind, 3, {paceline::trace::MapKind::one_ask, "one_ask"},
                    {paceline::trace::MapKind::each_length, "each_length"},
                    {paceline::trace::MapKind::walked, "walked"});
PACELINE_ENUM_NAMES(paceline::trace::PromptForm, 2, {paceline::trace::PromptForm::raw, "raw"},
                    {paceline::trace::PromptForm::chat, "chat"});
PACELINE_ENUM_NAMES(paceline::trace::Origin, 5, {paceline::trace::Origin::user, "user"},
                    {paceline::trace::Origin::gguf, "gguf"},
                    {paceline::trace::Origin::tool, "tool"},
                    {paceline::trace::Origin::library, "library"},
                    {paceline::trace::Origin::server, "server"});
PACELINE_ENUM_NAMES(paceline::trace::Quantity, paceline::trace::quantities,
                    {paceline::trace::Quantity::output_tokens, "output_tokens"},
                    {paceline::trace::Quantity::reasoning_tokens, "reasoning_tokens"},
                    {paceline::trace::Quantity::prompt_tokens, "prompt_tokens"},
                    {paceline::trace::Quantity::prompt_cached, "prompt_cached"},
                    {paceline::trace::Quantity::prompt_processed, "prompt_processed"},
                    {paceline::trace::Quantity::prefill_s, "prefill_s"},
                    {paceline::trace::Quantity::decode_s, "decode_s"},
                    {paceline::trace::Quantity::ttft_s, "ttft_s"},
                    {paceline::trace::Quantity::tokens_per_s, "tokens_per_s"},
                    {paceline::trace::Quantity::attempts, "attempts"},
                    {paceline::trace::Quantity::generated, "generated"},
                    {paceline::trace::Quantity::offered, "offered"},
                    {paceline::trace::Quantity::tested, "tested"},
                    {paceline::trace::Quantity::accepted, "accepted"},
                    {paceline::trace::Quantity::passes, "passes"},
                    {paceline::trace::Quantity::passes_speculative, "passes_speculative"},
                    {paceline::trace::Quantity::passes_plain, "passes_plain"},
                    {paceline::trace::Quantity::decodes, "decodes"},
                    {paceline::trace::Quantity::acceptance_length, "acceptance_length"},
                    {paceline::trace::Quantity::acceptance_rate, "acceptance_rate"},
                    {paceline::trace::Quantity::draft_n_max, "draft_n_max"},
                    {paceline::trace::Quantity::offered_at, "offered_at"},
                    {paceline::trace::Quantity::accepted_at, "accepted_at"},
                    {paceline::trace::Quantity::accepted_lengths, "accepted_lengths"});
PACELINE_ENUM_NAMES(paceline::trace::PassPart, 3, {paceline::trace::PassPart::target, "target"},
                    {paceline::trace::PassPart::taking_in, "taking_in"},
                    {paceline::trace::PassPart::draft, "draft"});
PACELINE_ENUM_NAMES(paceline::trace::PassKind, 3, {paceline::trace::PassKind::plain, "plain"},
                    {paceline::trace::PassKind::speculative, "speculative"},
                    {paceline::trace::PassKind::replay, "replay"});
PACELINE_ENUM_NAMES(paceline::trace::OutcomeKind, 6, {paceline::trace::OutcomeKind::done, "done"},
                    {paceline::trace::OutcomeKind::cancelled, "cancelled"},
                    {paceline::trace::OutcomeKind::refused, "refused"},
                    {paceline::trace::OutcomeKind::crashed, "crashed"},
                    {paceline::trace::OutcomeKind::timed_out, "timed_out"},
                    {paceline::trace::OutcomeKind::failed, "failed"});
PACELINE_ENUM_NAMES(paceline::trace::LoadLoop, 2, {paceline::trace::LoadLoop::closed, "closed"},
                    {paceline::trace::LoadLoop::open, "open"});
PACELINE_ENUM_NAMES(paceline::trace::MemoryMoment, 4,
                    {paceline::trace::MemoryMoment::before_load, "before_load"},
                    {paceline::trace::MemoryMoment::after_load, "after_load"},
                    {paceline::trace::MemoryMoment::after_fill, "after_fill"},
                    {paceline::trace::MemoryMoment::after_run, "after_run"});
PACELINE_ENUM_NAMES(paceline::trace::SweepMethod, 3, {paceline::trace::SweepMethod::full, "full"},
                    {paceline::trace::SweepMethod::around, "around"},
                    {paceline::trace::SweepMethod::halving, "halving"});
PACELINE_ENUM_NAMES(paceline::trace::StopReason, 4, {paceline::trace::StopReason::none, "none"},
                    {paceline::trace::StopReason::limit, "limit"},
                    {paceline::trace::StopReason::eos, "eos"},
                    {paceline::trace::StopReason::context, "context"});

namespace paceline::trace {

/// As llama-server's --spec-type: "ngram-simple,draft-mtp"; "none" for plain.
inline std::string spec_types_text(const Setup& setup) {
  std::string text;
  for (const SpecType type : drafters_of(setup))
    text += (text.empty() ? "" : ",") + std::string(util::enum_name(type));
  return text.empty() ? util::enum_name(SpecType::none) : text;
}

}  // namespace paceline::trace
