#include "document/sampling.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "document/counted.hpp"
#include "trace/names.hpp"

namespace paceline::document {

namespace {

/// When a parameter in force filters or reshapes: while its sampler is in the chain, its value is
/// not the one that does nothing, and greedy text, which takes the likeliest token, feels it.
struct Rule {
  std::string_view parameter;
  std::string_view sampler;       ///< as the name in the chain begins
  std::optional<double> neutral;  ///< absent: the library drops the sampler itself when it idles
  bool keeps_likeliest = false;
};

constexpr std::optional<double> none;

constexpr std::array rules = {
    Rule{"temp", "temp", 1},
    Rule{"dynatemp_range", "temp", 0, true},
    Rule{"top_k", "top-k", none, true},
    Rule{"top_p", "top-p", none, true},
    Rule{"min_p", "min-p", none, true},
    Rule{"typical_p", "typical", none},
    Rule{"top_n_sigma", "top-n-sigma", none, true},
    Rule{"xtc_probability", "xtc", none},
    Rule{"xtc_threshold", "xtc", none},
    Rule{"penalty_last_n", "penalties", none},
    Rule{"penalty_repeat", "penalties", 1},
    Rule{"penalty_freq", "penalties", 0},
    Rule{"penalty_present", "penalties", 0},
    Rule{"dry_multiplier", "dry", none},
    Rule{"dry_base", "dry", none},
    Rule{"dry_allowed_length", "dry", none},
    Rule{"dry_penalty_last_n", "dry", none},
    Rule{"adaptive_target", "adaptive-p", none},
    Rule{"adaptive_decay", "adaptive-p", none},
    Rule{"mirostat", "mirostat", none},
    Rule{"mirostat_tau", "mirostat", none},
    Rule{"mirostat_eta", "mirostat", none},
};

bool in_chain(const trace::EffectiveSampling& sampling, std::string_view sampler) {
  return std::any_of(sampling.chain.begin(), sampling.chain.end(),
                     [&](const std::string& name) { return name.starts_with(sampler); });
}

bool acts(const Rule& rule, double value, const trace::EffectiveSampling& sampling) {
  if (!in_chain(sampling, rule.sampler)) return false;
  const bool greedy = trace::in_force(sampling, "temp").value_or(1) <= 0;
  if (greedy && rule.keeps_likeliest) return false;
  return !rule.neutral || value < *rule.neutral || value > *rule.neutral;
}

SamplingSetting to_setting(const trace::SamplingSetting& from) {
  return {from.name, from.value, util::enum_name(from.origin)};
}

EffectiveSampling to_effective(const trace::EffectiveSampling& from) {
  EffectiveSampling effective{{}, from.chain, util::enum_name(from.chain_origin), from.unread};
  for (const auto& setting : from.settings) effective.settings.push_back(to_setting(setting));
  return effective;
}

}  // namespace

std::vector<trace::SamplingSetting> hidden_defaults(const trace::EffectiveSampling& sampling) {
  std::vector<trace::SamplingSetting> hidden;
  for (const auto& setting : sampling.settings)
    for (const Rule& rule : rules)
      if (rule.parameter == setting.name && setting.origin != trace::Origin::user &&
          acts(rule, setting.value, sampling))
        hidden.push_back(setting);
  return hidden;
}

RequestedSampling to_requested(const trace::Sampling& sampling) {
  RequestedSampling requested;
  for (const auto& parameter : trace::asked_parameters)
    if (const auto value = parameter.value(sampling))
      requested.settings.push_back({parameter.name, *value});
  requested.samplers = sampling.samplers;
  return requested;
}

Sampling to_sampling(const trace::Trace& trace) {
  Sampling sampling;
  if (!trace.header.arms.empty()) sampling.requested = to_requested(trace.header.arms[0].sampling);
  const trace::EngineFacts* facts = first_facts(trace, "");
  if (facts == nullptr) {
    sampling.effective = not_known<EffectiveSampling>("no launch opened, see outcomes");
    return sampling;
  }
  if (facts->server && facts->sampling.settings.empty()) {
    sampling.effective = not_known<EffectiveSampling>(
        "the server does not say what it samples with, beside what it was sent");
    return sampling;
  }
  sampling.effective = known(to_effective(facts->sampling));
  for (const auto& setting : hidden_defaults(facts->sampling))
    sampling.not_requested.push_back(to_setting(setting));
  return sampling;
}

}  // namespace paceline::document
