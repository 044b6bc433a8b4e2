#include "worker/llama/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trace/names.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

using trace::Origin;
using Parameters = common_params_sampling;
using Member = std::variant<float Parameters::*, std::int32_t Parameters::*>;

constexpr int most_looked_back = 1 << 20;  // tokens; no context is longer
constexpr int newest_mirostat = 2;

/// One number of the library's sampler: its name in asked_parameters and reports, its place, and
/// the key under which a model's file may recommend a value.
struct Parameter {
  const char* name;
  Member member;
  std::optional<llama_model_meta_key> key;
};

constexpr std::optional<llama_model_meta_key> no_key;

constexpr std::array parameter_table = {
    Parameter{"temp", &Parameters::temp, LLAMA_MODEL_META_KEY_SAMPLING_TEMP},
    Parameter{"dynatemp_range", &Parameters::dynatemp_range, no_key},
    Parameter{"dynatemp_exponent", &Parameters::dynatemp_exponent, no_key},
    Parameter{"top_k", &Parameters::top_k, LLAMA_MODEL_META_KEY_SAMPLING_TOP_K},
    Parameter{"top_p", &Parameters::top_p, LLAMA_MODEL_META_KEY_SAMPLING_TOP_P},
    Parameter{"min_p", &Parameters::min_p, LLAMA_MODEL_META_KEY_SAMPLING_MIN_P},
    Parameter{"typical_p", &Parameters::typ_p, no_key},
    Parameter{"top_n_sigma", &Parameters::top_n_sigma, no_key},
    Parameter{"xtc_probability", &Parameters::xtc_probability,
              LLAMA_MODEL_META_KEY_SAMPLING_XTC_PROBABILITY},
    Parameter{"xtc_threshold", &Parameters::xtc_threshold,
              LLAMA_MODEL_META_KEY_SAMPLING_XTC_THRESHOLD},
    Parameter{"min_keep", &Parameters::min_keep, no_key},
    Parameter{"penalty_last_n", &Parameters::penalty_last_n,
              LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_LAST_N},
    Parameter{"penalty_repeat", &Parameters::penalty_repeat,
              LLAMA_MODEL_META_KEY_SAMPLING_PENALTY_REPEAT},
    Parameter{"penalty_freq", &Parameters::penalty_freq, no_key},
    Parameter{"penalty_present", &Parameters::penalty_present, no_key},
    Parameter{"dry_multiplier", &Parameters::dry_multiplier, no_key},
    Parameter{"dry_base", &Parameters::dry_base, no_key},
    Parameter{"dry_allowed_length", &Parameters::dry_allowed_length, no_key},
    Parameter{"dry_penalty_last_n", &Parameters::dry_penalty_last_n, no_key},
    Parameter{"adaptive_target", &Parameters::adaptive_target, no_key},
    Parameter{"adaptive_decay", &Parameters::adaptive_decay, no_key},
    Parameter{"mirostat", &Parameters::mirostat, LLAMA_MODEL_META_KEY_SAMPLING_MIROSTAT},
    Parameter{"mirostat_tau", &Parameters::mirostat_tau,
              LLAMA_MODEL_META_KEY_SAMPLING_MIROSTAT_TAU},
    Parameter{"mirostat_eta", &Parameters::mirostat_eta,
              LLAMA_MODEL_META_KEY_SAMPLING_MIROSTAT_ETA},
};

/// A float as the shortest text that means it: what the user typed as 0.7 must not come back as
/// 0.699999988.
double shown(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

double get(const Parameters& parameters, const Member& member) {
  if (const auto* real = std::get_if<float Parameters::*>(&member)) return shown(parameters.**real);
  return parameters.*std::get<std::int32_t Parameters::*>(member);
}

void set(Parameters& parameters, const Member& member, double value) {
  if (const auto* real = std::get_if<float Parameters::*>(&member))
    parameters.** real = static_cast<float>(value);
  else
    parameters.*std::get<std::int32_t Parameters::*>(member) = static_cast<std::int32_t>(value);
}

/// What the file says under a key, as far as llama.cpp reads it; nothing without the key.
std::optional<std::string> model_text(const llama_model* model, llama_model_meta_key key) {
  std::array<char, 512> buffer{};
  const char* name = llama_model_meta_key_str(key);
  if (llama_model_meta_val_str(model, name, buffer.data(), buffer.size()) <= 0) return std::nullopt;
  return std::string(buffer.data());
}

/// Reads the number that a text begins with as common_init_from_params does, out-of-range whole
/// numbers included; false when it begins with none.
bool read_number(const std::string& text, const Member& member, Parameters& parameters) {
  char* end = nullptr;
  if (const auto* real = std::get_if<float Parameters::*>(&member)) {
    const float value = std::strtof(text.c_str(), &end);
    if (end != text.c_str()) parameters.** real = value;
  } else {
    const long value = std::strtol(text.c_str(), &end, 10);
    if (end != text.c_str())
      parameters.*std::get<std::int32_t Parameters::*>(member) = static_cast<std::int32_t>(value);
  }
  return end != text.c_str();
}

std::vector<std::string> unknown_samplers(const std::vector<std::string>& names) {
  std::vector<std::string> unknown;
  for (const std::string& name : names)
    if (common_sampler_types_from_names({name}).empty()) unknown.push_back(name);
  return unknown;
}

class Resolution {
 public:
  Resolution(const llama_model* model, const trace::Sampling& requested)
      : model_(model), requested_(requested) {}

  util::Result<ResolvedSampling> run() {
    result_.parameters.no_perf = true;
    PACELINE_TRY(take_chain());
    for (const Parameter& parameter : parameter_table) {
      const Origin origin = take(parameter);
      PACELINE_TRY(check(parameter, origin));
      result_.effective.settings.push_back(
          {parameter.name, get(result_.parameters, parameter.member), origin});
    }
    // As --repeat-last-n has it in llama-server.
    result_.parameters.n_prev =
        std::max(result_.parameters.n_prev, requested_.penalty_last_n.value_or(0));
    name_chain();
    return std::move(result_);
  }

 private:
  util::Result<void> take_chain() {
    if (requested_.samplers) {
      const auto names = string_split<std::string>(*requested_.samplers, ';');
      if (const auto unknown = unknown_samplers(names); !unknown.empty())
        return refuse(
            "--samplers names \"{}\", which llama.cpp does not know: name some of penalties, dry, "
            "top_n_sigma, top_k, typ_p, top_p, min_p, xtc and temperature, separated by ;.",
            unknown.front());
      result_.parameters.samplers = common_sampler_types_from_names(names);
      result_.effective.chain_origin = Origin::user;
    } else if (const auto text = model_text(model_, LLAMA_MODEL_META_KEY_SAMPLING_SEQUENCE)) {
      const auto names = string_split<std::string>(*text, ';');
      for (const std::string& name : unknown_samplers(names))
        ignore(LLAMA_MODEL_META_KEY_SAMPLING_SEQUENCE, "names the unknown sampler", name);
      result_.parameters.samplers = common_sampler_types_from_names(names);
      result_.effective.chain_origin = Origin::gguf;
    }
    return {};
  }

  /// Puts the value in force into its place and says whose it is.
  Origin take(const Parameter& parameter) {
    if (const auto value = trace::asked(requested_, parameter.name)) {
      set(result_.parameters, parameter.member, *value);
      return Origin::user;
    }
    if (parameter.key)
      if (const auto text = model_text(model_, *parameter.key)) {
        if (read_number(*text, parameter.member, result_.parameters)) return Origin::gguf;
        ignore(*parameter.key, "is no number but", *text);
      }
    if (parameter.name == std::string_view("temp") && requested_.tool_temp) {
      set(result_.parameters, parameter.member, *requested_.tool_temp);
      return Origin::tool;
    }
    return Origin::library;
  }

  void ignore(llama_model_meta_key key, const char* what, const std::string& text) {
    result_.effective.unread.push_back(
        fmt::format("{} in the model's file {} \"{}\": llama.cpp ignores it",
                    llama_model_meta_key_str(key), what, text));
  }

  util::Result<void> check(const Parameter& parameter, Origin origin) const {
    const double value = get(result_.parameters, parameter.member);
    const auto unusable = [&](const char* why) {
      return refuse(
          "The sampling parameter {} is {} (by {}), {}: ask for another value or correct "
          "it in the model's file.",
          parameter.name, value, util::enum_name(origin), why);
    };
    if (!std::isfinite(value)) return unusable("which is no finite number");
    const std::string_view name = parameter.name;
    if (name == "mirostat" && (value < 0 || value > newest_mirostat))
      return unusable("and llama.cpp knows 0, 1 and 2");
    if (name == "penalty_last_n" && value > most_looked_back)
      return unusable("which is longer than any context");
    return {};
  }

  void name_chain() {
    const common_sampler_ptr sampler(common_sampler_init(model_, result_.parameters));
    llama_sampler* chain = common_sampler_get(sampler.get());
    for (int i = 0; i < llama_sampler_chain_n(chain); ++i) {
      const std::string name = llama_sampler_name(llama_sampler_chain_get(chain, i));
      // A sampler whose parameters switch it off is replaced by an empty one named "?...".
      if (name.front() != '?') result_.effective.chain.push_back(name);
    }
  }

  const llama_model* model_;
  const trace::Sampling& requested_;
  ResolvedSampling result_;
};

}  // namespace

util::Result<ResolvedSampling> resolve_sampling(const llama_model* model,
                                                const trace::Sampling& requested) {
  return Resolution(model, requested).run();
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
