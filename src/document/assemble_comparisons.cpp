#include "document/assemble_comparisons.hpp"

#include "document/workload.hpp"

namespace paceline::document {

namespace {

Ratios to_ratios(const metrics::Ratios& from) {
  return {to_quantity(from.tokens_per_s), to_quantity(from.passes_per_s),
          to_quantity(from.tokens_per_pass)};
}

std::vector<LaunchFigures> to_launches(const std::vector<metrics::LaunchFigures>& from) {
  const std::string unknown = "no passes were recorded";
  std::vector<LaunchFigures> figures;
  for (const auto& one : from)
    figures.push_back({one.arm, one.round, one.tokens_per_s, known_or(one.passes_per_s, unknown),
                       known_or(one.tokens_per_pass, unknown)});
  return figures;
}

}  // namespace

std::vector<Comparison> to_comparisons(const trace::Trace& trace, const metrics::Summary& summary) {
  std::vector<Comparison> comparisons;
  for (const auto& from : summary.comparisons) {
    const trace::Comparison& asked = *trace.header.comparison;
    Comparison to;
    if (!from.workload_class.empty()) to.workload_class = from.workload_class;
    to.a = from.a;
    to.b = from.b;
    to.a_says = asked.a_says;
    to.b_says = asked.b_says;
    to.launches = from.launches;
    to.margin = from.margin;
    to.ratios = to_ratios(from.ratios);
    to.again = to_ratios(from.again);
    to.again_spread = known_or(from.again_spread, from.because);
    to.verdict = util::enum_name(from.finding);
    to.because = from.because.empty() ? not_known<std::string>("it is told") : known(from.because);
    to.launches_needed = known_or(from.launches_needed, from.launches_reason);
    to.power = known_or(from.power, from.because);
    to.limit = from.limit ? known(Limit{*from.limit, util::enum_name(from.limit_verdict)})
                          : not_known<Limit>("none was stated");
    to.looks = asked.looks;
    to.launch_figures = to_launches(from.launch_figures);
    comparisons.push_back(std::move(to));
  }
  return comparisons;
}

}  // namespace paceline::document
