#include "claim/readers/said.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace paceline::claim {

namespace {

using trace::Quantity;

// The decode rate that a server states is left to its tokens and time where it says both.
constexpr std::array quantities = {
    std::pair{Quantity::output_tokens, Figure::output_tokens},
    std::pair{Quantity::prompt_tokens, Figure::prompt_tokens},
    std::pair{Quantity::prompt_cached, Figure::prompt_cached},
    std::pair{Quantity::prompt_processed, Figure::prompt_processed},
    std::pair{Quantity::prefill_s, Figure::prefill_s},
    std::pair{Quantity::decode_s, Figure::decode_s},
    std::pair{Quantity::ttft_s, Figure::ttft_s},
    std::pair{Quantity::tokens_per_s, Figure::tokens_per_s},
    std::pair{Quantity::attempts, Figure::attempts},
    std::pair{Quantity::generated, Figure::generated},
    std::pair{Quantity::offered, Figure::offered},
    std::pair{Quantity::accepted, Figure::accepted},
    std::pair{Quantity::passes, Figure::passes},
    std::pair{Quantity::passes_speculative, Figure::passes_speculative},
    std::pair{Quantity::acceptance_length, Figure::acceptance_length},
    std::pair{Quantity::acceptance_rate, Figure::acceptance},
    std::pair{Quantity::draft_n_max, Figure::draft_limit},
};

bool is_count(Figure figure) { return dimension_of(figure) == Dimension::count; }

/// Unconditional shares by position, once the passes with a draft are known.
void add_positions(const trace::Said& said, const std::string& source, Row& row) {
  const Stated* drafts = row.find(Figure::passes_speculative);
  if (drafts == nullptr || !(drafts->range.low > 0)) return;
  Stated stated{Figure::acceptance_at, {}, {}, said.field, source, {}};
  for (const double count : said.values) stated.values.push_back(exactly(count) / drafts->range);
  if (!stated.values.empty()) row.add(std::move(stated));
}

}  // namespace

Range machine_number(double value) {
  const double half = std::abs(value) * 5e-4;  // servers print four digits and more
  return {value, value - half, value + half};
}

void add_said(const std::vector<trace::Said>& all, const std::string& source, Row& row) {
  for (const trace::Said& said : all)
    for (const auto& [quantity, figure] : quantities) {
      if (said.quantity != quantity) continue;
      row.add(
          {figure,
           is_count(figure) ? exactly(said.value) : machine_number(said.value),
           {},
           fmt::format("{:.10g}", said.value),
           source + ", " + said.field,
           figure == Figure::acceptance && said.rule.empty() ? "accepted / offered" : said.rule});
    }
  for (const trace::Said& said : all)
    if (said.quantity == Quantity::accepted_at) add_positions(said, source, row);
}

}  // namespace paceline::claim
