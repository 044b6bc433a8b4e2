#include "document/fills.hpp"

#include <fmt/format.h>

#include "document/workload.hpp"

namespace paceline::document {

namespace {

constexpr double full_share = 0.9;

const trace::FilledDepth* first_reached(const trace::Trace& trace, const std::string& arm,
                                        int depth) {
  for (const auto& launch : trace.launches)
    if (launch.arm == arm)
      for (const auto& filled : launch.fills)
        if (filled.asked_depth == depth && filled.outcome.kind == trace::OutcomeKind::done)
          return &filled;
  return nullptr;
}

Known<std::uint64_t> pss_of(const trace::FilledDepth& filled) {
  return filled.reading ? known_or(filled.reading->pss_bytes, filled.reading->reason)
                        : not_known<std::uint64_t>("the engine is no process of this machine");
}

std::uint64_t allocated(const trace::MemoryFacts& memory) {
  return memory.model_bytes + memory.context_bytes + memory.compute_bytes;
}

Fill to_fill(const trace::Trace& trace, const metrics::FillSummary& from) {
  Fill fill;
  fill.arm = from.arm;
  fill.depth = from.depth;
  fill.tokens =
      from.launches > 0 ? known(from.tokens) : not_known<int>(from.prefill_tokens_per_s.reason);
  fill.prefill_tokens_per_s = to_quantity(from.prefill_tokens_per_s);
  fill.drafter_share = known_or(
      from.drafter_share, from.launches > 0 ? "no drafter" : from.prefill_tokens_per_s.reason);
  fill.launches = from.launches;
  fill.failures = from.failures;
  const auto* first = first_reached(trace, from.arm, from.depth);
  const bool told = first != nullptr && first->fill;
  const auto untold =
      not_known<std::uint64_t>(first == nullptr ? "no launch reached this depth"
                                                : "a server does not say what it allocated");
  fill.context_bytes = told ? known(first->fill->memory.context_bytes) : untold;
  fill.compute_bytes = told ? known(first->fill->memory.compute_bytes) : untold;
  fill.pss_bytes = first ? pss_of(*first) : untold;
  fill.unaccounted_bytes = not_known<std::int64_t>(told ? fill.pss_bytes.reason : untold.reason);
  if (told && fill.pss_bytes.value)
    fill.unaccounted_bytes = known(static_cast<std::int64_t>(*fill.pss_bytes.value) -
                                   static_cast<std::int64_t>(allocated(first->fill->memory)));
  return fill;
}

}  // namespace

std::vector<Fill> to_fills(const trace::Trace& trace, const metrics::Summary& summary) {
  std::vector<Fill> fills;
  for (const auto& from : summary.fills) fills.push_back(to_fill(trace, from));
  return fills;
}

Known<std::uint64_t> memory_after_fill(const trace::Trace& trace) {
  int deepest = 0;
  int n_ctx = 0;
  for (const auto& launch : trace.launches) {
    if (!launch.facts) continue;
    for (const auto& filled : launch.fills) {
      if (!filled.fill) continue;
      if (filled.fill->depth >= full_share * launch.facts->n_ctx) return pss_of(filled);
      if (filled.fill->depth <= deepest) continue;
      deepest = filled.fill->depth;
      n_ctx = launch.facts->n_ctx;
    }
  }
  if (deepest > 0)
    return not_known<std::uint64_t>(
        fmt::format("the context was filled to {} of its {} tokens only", deepest, n_ctx));
  return not_known<std::uint64_t>(
      "memory was read with the context not filled, as requests left it");
}

}  // namespace paceline::document
