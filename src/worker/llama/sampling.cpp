#include "worker/llama/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace paceline::worker {

namespace {

std::optional<std::string> model_text(const llama_model* model, llama_model_meta_key key) {
  std::array<char, 512> buffer{};
  const char* name = llama_model_meta_key_str(key);
  if (llama_model_meta_val_str(model, name, buffer.data(), buffer.size()) <= 0) return std::nullopt;
  return std::string(buffer.data());
}

void take(const llama_model* model, llama_model_meta_key key, float& value) {
  if (const auto text = model_text(model, key)) {
    char* end = nullptr;
    const float parsed = std::strtof(text->c_str(), &end);
    if (end != text->c_str()) value = parsed;
  }
}

void take(const llama_model* model, llama_model_meta_key key, int& value) {
  if (const auto text = model_text(model, key)) {
    char* end = nullptr;
    const long parsed = std::strtol(text->c_str(), &end, 10);
    if (end != text->c_str()) value = static_cast<int>(parsed);
  }
}

void take_sequence(const llama_model* model, common_params_sampling& parameters) {
  const auto text = model_text(model, LLAMA_MODEL_META_KEY_SAMPLING_SEQUENCE);
  if (!text) return;
  std::vector<std::string> names;
  std::istringstream stream(*text);
  for (std::string name; std::getline(stream, name, ';');) names.push_back(name);
  if (!names.empty()) parameters.samplers = common_sampler_types_from_names(names);
}

/// The general.sampling.* keys, as common_init_from_params reads them for llama-server.
void take_recommendations(const llama_model* model, common_params_sampling& parameters) {
  take_sequence(model, parameters);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_TOP_K, parameters.top_k);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_TOP_P, parameters.top_p);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_MIN_P, parameters.min_p);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_XTC_PROBABILITY, parameters.xtc_probability);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_XTC_THRESHOLD, parameters.xtc_threshold);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_TEMP, parameters.temp);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_LAST_N, parameters.penalty_last_n);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_REPEAT, parameters.penalty_repeat);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_MIROSTAT, parameters.mirostat);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_MIROSTAT_TAU, parameters.mirostat_tau);
  take(model, LLAMA_MODEL_META_KEY_SAMPLING_MIROSTAT_ETA, parameters.mirostat_eta);
}

std::vector<std::string> chain_names(const llama_model* model, common_params_sampling parameters) {
  const common_sampler_ptr sampler(common_sampler_init(model, parameters));
  llama_sampler* chain = common_sampler_get(sampler.get());
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(llama_sampler_chain_n(chain)));
  for (int i = 0; i < llama_sampler_chain_n(chain); ++i) {
    const std::string name = llama_sampler_name(llama_sampler_chain_get(chain, i));
    // A sampler whose parameters switch it off is replaced by an empty one named "?...".
    if (name.front() != '?') names.push_back(name);
  }
  return names;
}

}  // namespace

common_params_sampling sampling_parameters(const llama_model* model,
                                           const trace::Sampling& requested) {
  common_params_sampling parameters;
  parameters.no_perf = true;
  take_recommendations(model, parameters);
  if (requested.tool_temp && !model_text(model, LLAMA_MODEL_META_KEY_SAMPLING_TEMP))
    parameters.temp = static_cast<float>(*requested.tool_temp);
  if (requested.temp) parameters.temp = static_cast<float>(*requested.temp);
  if (requested.top_k) parameters.top_k = *requested.top_k;
  if (requested.top_p) parameters.top_p = static_cast<float>(*requested.top_p);
  if (requested.min_p) parameters.min_p = static_cast<float>(*requested.min_p);
  return parameters;
}

trace::EffectiveSampling effective_sampling(const llama_model* model,
                                            const trace::Sampling& requested) {
  const common_params_sampling parameters = sampling_parameters(model, requested);
  // The shortest text of the float: what the user typed as 0.7 must not come back as 0.699999988.
  const auto shown = [](float value) {
    return std::strtod(fmt::format("{}", value).c_str(), nullptr);
  };
  return {.temp = shown(parameters.temp),
          .top_k = parameters.top_k,
          .top_p = shown(parameters.top_p),
          .min_p = shown(parameters.min_p),
          .typical_p = shown(parameters.typ_p),
          .top_n_sigma = shown(parameters.top_n_sigma),
          .xtc_probability = shown(parameters.xtc_probability),
          .penalty_repeat = shown(parameters.penalty_repeat),
          .penalty_last_n = parameters.penalty_last_n,
          .dry_multiplier = shown(parameters.dry_multiplier),
          .chain = chain_names(model, parameters)};
}

double top2_gap(const float* logits, int count) {
  float best = -std::numeric_limits<float>::infinity();
  float second = best;
  for (int i = 0; i < count; ++i) {
    second = std::max(second, std::min(best, logits[i]));
    best = std::max(best, logits[i]);
  }
  return static_cast<double>(best) - static_cast<double>(second);
}

}  // namespace paceline::worker
