#include "dialect/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/sampling.hpp"

namespace paceline::dialect {

namespace {

constexpr std::array llama_names = {
    ParameterName{"temp", "temperature"},
    ParameterName{"top_k", "top_k"},
    ParameterName{"top_p", "top_p"},
    ParameterName{"min_p", "min_p"},
    ParameterName{"typical_p", "typical_p"},
    ParameterName{"top_n_sigma", "top_n_sigma"},
    ParameterName{"xtc_probability", "xtc_probability"},
    ParameterName{"xtc_threshold", "xtc_threshold"},
    ParameterName{"penalty_last_n", "repeat_last_n"},
    ParameterName{"penalty_repeat", "repeat_penalty"},
    ParameterName{"penalty_freq", "frequency_penalty"},
    ParameterName{"penalty_present", "presence_penalty"},
};

/// Said by the server, but nothing that can be asked through us.
constexpr std::array more_llama_names = {
    "dynatemp_range",     "dynatemp_exponent",  "dry_multiplier",  "dry_base",
    "dry_allowed_length", "dry_penalty_last_n", "adaptive_target", "adaptive_decay",
    "mirostat",           "mirostat_tau",       "mirostat_eta"};

/// A sampler by the server's name and by the library's, which chains have everywhere else.
struct SamplerName {
  const char* theirs;
  const char* ours;
};
constexpr std::array sampler_names = {
    SamplerName{"top_k", "top-k"},       SamplerName{"top_p", "top-p"},
    SamplerName{"min_p", "min-p"},       SamplerName{"typ_p", "typical"},
    SamplerName{"typical_p", "typical"}, SamplerName{"top_n_sigma", "top-n-sigma"},
    SamplerName{"temperature", "temp"},  SamplerName{"adaptive_p", "adaptive-p"},
};

constexpr std::size_t longest_chain = 64;

std::string sampler_name(const std::string& theirs) {
  for (const SamplerName& name : sampler_names)
    if (theirs == name.theirs) return name.ours;
  return short_line(theirs);
}

const char* name_there(std::span<const ParameterName> names, std::string_view ours) {
  for (const ParameterName& name : names)
    if (ours == name.ours) return name.theirs;
  return nullptr;
}

bool is_whole(std::string_view ours) { return ours == "top_k" || ours == "penalty_last_n"; }

/// True when the sampler does nothing at these settings, and the library therefore leaves it out.
bool idles(const std::string& name, const trace::EffectiveSampling& settings) {
  const auto value = [&](const char* key, double otherwise) {
    return trace::in_force(settings, key).value_or(otherwise);
  };
  if (name == "top-k") return value("top_k", 1) <= 0;
  if (name == "top-p") return value("top_p", 0) >= 1;
  if (name == "min-p") return value("min_p", 1) <= 0;
  if (name == "typical") return value("typical_p", 0) >= 1;
  if (name == "top-n-sigma") return value("top_n_sigma", 1) <= 0;
  if (name == "xtc") return value("xtc_probability", 1) <= 0 || value("xtc_threshold", 0) > 0.5;
  if (name == "dry") return value("dry_multiplier", 1) <= 0;
  if (name == "adaptive-p") return value("adaptive_target", 1) < 0;
  if (name != "penalties") return false;
  const bool neutral = std::abs(value("penalty_repeat", 0) - 1) <= 0 &&
                       std::abs(value("penalty_freq", 1)) <= 0 &&
                       std::abs(value("penalty_present", 1)) <= 0;
  return neutral || std::abs(value("penalty_last_n", 1)) <= 0;
}

void read_chain(const Fields& settings, trace::EffectiveSampling& sampling) {
  const util::Json* samplers = settings.array("samplers");
  if (samplers == nullptr) return;
  if (samplers->size() > longest_chain)
    return settings.odd("samplers", "is too long to be a chain");
  for (const auto& element : *samplers) {
    if (!element.is_string()) return settings.odd("samplers", "holds something that is no name");
    std::string name = sampler_name(element.get<std::string>());
    if (!idles(name, sampling)) sampling.chain.push_back(std::move(name));
  }
}

util::Json split_names(const std::string& names) {
  util::Json list = util::Json::array();
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(';', at), names.size());
    if (end > at) list.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

bool same(double asked, double in_force) {
  return std::abs(asked - in_force) <= 1e-5 * std::max(1.0, std::abs(asked));
}

}  // namespace

std::span<const ParameterName> llama_parameters() { return llama_names; }

void put_sampling(const Ask& ask, std::span<const ParameterName> names, util::Json& body) {
  const trace::Sampling& sampling = ask.job.sampling;
  for (const trace::AskedParameter& parameter : trace::asked_parameters) {
    const auto value = parameter.value(sampling);
    const char* there = name_there(names, parameter.name);
    if (!value || there == nullptr) continue;
    if (is_whole(parameter.name))
      body[there] = static_cast<long>(*value);
    else
      body[there] = *value;
  }
  const char* temperature = name_there(names, "temp");
  if (!sampling.temp && sampling.tool_temp && temperature != nullptr)
    body[temperature] = *sampling.tool_temp;
  if (sampling.samplers && names.data() == llama_names.data())
    body["samplers"] = split_names(*sampling.samplers);
}

std::vector<std::string> without_name(const trace::Sampling& sampling,
                                      std::span<const ParameterName> names) {
  std::vector<std::string> missing;
  for (const trace::AskedParameter& parameter : trace::asked_parameters)
    if (parameter.value(sampling) && name_there(names, parameter.name) == nullptr)
      missing.emplace_back(parameter.name);
  if (sampling.samplers && names.data() != llama_names.data()) missing.emplace_back("samplers");
  return missing;
}

std::optional<trace::EffectiveSampling> read_llama_settings(const Fields& settings) {
  if (!settings) return std::nullopt;
  trace::EffectiveSampling sampling;
  const auto take = [&](const char* ours, const char* theirs) {
    if (const auto value = settings.any_number(theirs))
      sampling.settings.push_back({ours, *value, trace::Origin::server});
  };
  for (const ParameterName& name : llama_names) take(name.ours, name.theirs);
  for (const char* name : more_llama_names) take(name, name);
  if (sampling.settings.empty()) return std::nullopt;
  sampling.chain_origin = trace::Origin::server;
  read_chain(settings, sampling);
  return sampling;
}

void name_origins(const trace::Sampling& asked, trace::EffectiveSampling& in_force,
                  std::vector<std::string>& oddities) {
  for (trace::SamplingSetting& setting : in_force.settings) {
    const auto wanted = trace::asked(asked, setting.name);
    if (wanted) setting.origin = trace::Origin::user;
    const bool ours = setting.name == "temp" && !wanted && asked.tool_temp;
    if (ours) setting.origin = trace::Origin::tool;
    const auto expected = ours ? asked.tool_temp : wanted;
    if (!expected || same(*expected, setting.value)) continue;
    add_oddity(oddities, setting.name + " is " + util::dump_json(setting.value) +
                             " on the server, asked for was " + util::dump_json(*expected));
    setting.origin = trace::Origin::server;
  }
  if (asked.samplers) in_force.chain_origin = trace::Origin::user;
}

}  // namespace paceline::dialect
