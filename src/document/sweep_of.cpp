#include "document/sweep_of.hpp"

#include "document/workload.hpp"
#include "trace/names.hpp"

namespace paceline::document {

namespace {

SweepPoint to_point(const trace::SweepPoint& planned, const metrics::SweepCell& cell) {
  const char* const no_passes = "its passes were not counted";
  const char* const no_draft = "nothing was drafted";
  return {cell.arm,
          planned.values,
          cell.launches,
          known_or(cell.left_out_after, "it was not left out"),
          to_quantity(cell.tokens_per_s),
          known_or(cell.passes_per_s, no_passes),
          known_or(cell.tokens_per_pass, no_passes),
          known_or(cell.acceptance, no_draft),
          known_or(cell.draft_per_pass, no_draft),
          to_quantity(cell.speedup),
          to_quantity(cell.against_best)};
}

Known<std::vector<std::string>> to_best_set(const metrics::SweepSummary& summary) {
  if (!summary.no_set.empty()) return not_known<std::vector<std::string>>(summary.no_set);
  std::vector<std::string> names;
  for (const auto& cell : summary.cells)
    if (cell.in_best_set) names.push_back(cell.arm);
  return known(std::move(names));
}

Known<HeldOut> to_held_out(const metrics::SweepSummary& summary) {
  if (!summary.held_out) return not_known<HeldOut>(summary.no_held_out);
  const auto& from = *summary.held_out;
  return known(HeldOut{from.arm, from.prompts, from.launches, to_quantity(from.tokens_per_s),
                       to_quantity(from.passes_per_s), to_quantity(from.tokens_per_pass),
                       to_quantity(from.speedup)});
}

}  // namespace

Known<Sweep> to_sweep(const trace::Trace& trace, const metrics::Summary& summary) {
  if (!trace.header.sweep || !summary.sweep) return not_known<Sweep>("the run is no sweep");
  const trace::Sweep& planned = *trace.header.sweep;
  const metrics::SweepSummary& found = *summary.sweep;
  Sweep sweep;
  for (const auto& [name, values] : planned.options) sweep.options.push_back({name, values});
  sweep.method = util::enum_name(planned.method);
  sweep.rule = planned.rule;
  sweep.rungs = planned.rungs;
  for (std::size_t i = 0; i < found.cells.size(); ++i)
    sweep.points.push_back(to_point(planned.points[i], found.cells[i]));
  sweep.best = found.best.empty() ? not_known<std::string>(found.no_set) : known(found.best);
  sweep.best_set = to_best_set(found);
  for (const auto& row : found.draft_lengths)
    sweep.draft_lengths.push_back({row.group, row.draft_length, found.cells[row.cell].arm});
  sweep.findings = found.findings;
  sweep.held_out = to_held_out(found);
  return known(std::move(sweep));
}

}  // namespace paceline::document
