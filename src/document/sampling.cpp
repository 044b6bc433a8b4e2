#include "document/sampling.hpp"

#include <array>

#include "document/counted.hpp"

namespace paceline::document {

namespace {

using Requested = RequestedSampling;
using Effective = EffectiveSampling;

/// A filter that keeps the likeliest token changes nothing when that token is always taken.
bool is_greedy(const Effective& sampling) { return sampling.temp <= 0; }

bool above(double value, double neutral) { return value > neutral; }
bool below(double value, double neutral) { return value < neutral; }
bool other_than(double value, double neutral) {
  return above(value, neutral) || below(value, neutral);
}

struct Parameter {
  const char* name;
  bool (*asked)(const Requested&);
  double (*value)(const Effective&);
  bool (*acts)(const Effective&);
};

bool never_asked(const Requested&) { return false; }

constexpr std::array parameters = {
    Parameter{"temp", [](const Requested& asked) { return asked.temp.has_value(); },
              [](const Effective& force) { return force.temp; },
              [](const Effective& force) { return other_than(force.temp, 1); }},
    Parameter{"top_k", [](const Requested& asked) { return asked.top_k.has_value(); },
              [](const Effective& force) { return static_cast<double>(force.top_k); },
              [](const Effective& force) { return !is_greedy(force) && force.top_k > 0; }},
    Parameter{"top_p", [](const Requested& asked) { return asked.top_p.has_value(); },
              [](const Effective& force) { return force.top_p; },
              [](const Effective& force) { return !is_greedy(force) && below(force.top_p, 1); }},
    Parameter{"min_p", [](const Requested& asked) { return asked.min_p.has_value(); },
              [](const Effective& force) { return force.min_p; },
              [](const Effective& force) { return !is_greedy(force) && above(force.min_p, 0); }},
    Parameter{"typical_p", never_asked, [](const Effective& force) { return force.typical_p; },
              [](const Effective& force) { return below(force.typical_p, 1); }},
    Parameter{
        "top_n_sigma", never_asked, [](const Effective& force) { return force.top_n_sigma; },
        [](const Effective& force) { return !is_greedy(force) && above(force.top_n_sigma, 0); }},
    Parameter{"xtc_probability", never_asked,
              [](const Effective& force) { return force.xtc_probability; },
              [](const Effective& force) { return above(force.xtc_probability, 0); }},
    Parameter{"penalty_repeat", never_asked,
              [](const Effective& force) { return force.penalty_repeat; },
              [](const Effective& force) {
                return force.penalty_last_n != 0 && other_than(force.penalty_repeat, 1);
              }},
    Parameter{"dry_multiplier", never_asked,
              [](const Effective& force) { return force.dry_multiplier; },
              [](const Effective& force) { return above(force.dry_multiplier, 0); }},
};

Effective to_effective(const trace::EffectiveSampling& from) {
  return {from.temp,
          from.top_k,
          from.top_p,
          from.min_p,
          from.typical_p,
          from.top_n_sigma,
          from.xtc_probability,
          from.penalty_repeat,
          from.penalty_last_n,
          from.dry_multiplier,
          from.chain};
}

}  // namespace

RequestedSampling to_requested(const trace::Sampling& sampling) {
  return {sampling.temp, sampling.top_k, sampling.top_p, sampling.min_p};
}

Sampling to_sampling(const trace::Trace& trace) {
  Sampling sampling;
  if (!trace.header.arms.empty()) sampling.requested = to_requested(trace.header.arms[0].sampling);
  const trace::EngineFacts* facts = first_facts(trace, "");
  if (facts == nullptr) {
    sampling.effective = not_known<Effective>("no launch opened, see outcomes");
    return sampling;
  }
  sampling.effective = known(to_effective(facts->sampling));
  for (const Parameter& parameter : parameters)
    if (!parameter.asked(sampling.requested) && parameter.acts(*sampling.effective.value))
      sampling.not_requested.push_back(
          {parameter.name, parameter.value(*sampling.effective.value)});
  return sampling;
}

}  // namespace paceline::document
