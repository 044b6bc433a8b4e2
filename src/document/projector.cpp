#include "document/projector.hpp"

#include <algorithm>

#include "metrics/arithmetic.hpp"

namespace paceline::document {

namespace {

Spread spread_of(const std::vector<const trace::ProjectorFacts*>& seen,
                 double trace::ProjectorFacts::*figure) {
  std::vector<double> values;
  for (const trace::ProjectorFacts* facts : seen) values.push_back(facts->*figure);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, metrics::median(values), *most};
}

}  // namespace

Known<Projector> to_projector(const trace::Trace& trace) {
  std::vector<const trace::ProjectorFacts*> seen;
  for (const trace::Launch& launch : trace.launches)
    if (launch.facts && launch.facts->projector) seen.push_back(&*launch.facts->projector);
  if (seen.empty()) return not_known<Projector>("no projector was loaded here");
  const trace::ProjectorFacts& first = *seen.front();
  Projector projector;
  projector.file = to_model(first.file);
  projector.allocated_bytes = first.allocated_bytes;
  projector.image_width = first.image_width;
  projector.image_height = first.image_height;
  projector.image_tokens = first.image_tokens;
  projector.prompt_tokens = first.prompt_tokens;
  projector.load_s = spread_of(seen, &trace::ProjectorFacts::load_s);
  projector.encode_s = spread_of(seen, &trace::ProjectorFacts::encode_s);
  projector.prefill_s = spread_of(seen, &trace::ProjectorFacts::prefill_s);
  projector.launches = static_cast<int>(seen.size());
  return known(std::move(projector));
}

}  // namespace paceline::document
