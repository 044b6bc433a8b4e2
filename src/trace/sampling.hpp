#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "trace/setup.hpp"

namespace paceline::trace {

/// A number that can be asked of the sampler, by the name it has everywhere.
struct AskedParameter {
  const char* name;
  std::optional<double> (*value)(const Sampling&);  ///< nothing when nobody asked
};

template <auto Member>
std::optional<double> number_of(const Sampling& sampling) {
  const auto& value = sampling.*Member;
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// All of them; `samplers` and `tool_temp` are no such numbers.
inline constexpr std::array asked_parameters = {
    AskedParameter{"temp", number_of<&Sampling::temp>},
    AskedParameter{"top_k", number_of<&Sampling::top_k>},
    AskedParameter{"top_p", number_of<&Sampling::top_p>},
    AskedParameter{"min_p", number_of<&Sampling::min_p>},
    AskedParameter{"typical_p", number_of<&Sampling::typical_p>},
    AskedParameter{"top_n_sigma", number_of<&Sampling::top_n_sigma>},
    AskedParameter{"xtc_probability", number_of<&Sampling::xtc_probability>},
    AskedParameter{"xtc_threshold", number_of<&Sampling::xtc_threshold>},
    AskedParameter{"penalty_last_n", number_of<&Sampling::penalty_last_n>},
    AskedParameter{"penalty_repeat", number_of<&Sampling::penalty_repeat>},
    AskedParameter{"penalty_freq", number_of<&Sampling::penalty_freq>},
    AskedParameter{"penalty_present", number_of<&Sampling::penalty_present>},
};

/// The value asked for under a name; nothing when nobody asked or nobody can.
inline std::optional<double> asked(const Sampling& sampling, std::string_view name) {
  for (const AskedParameter& parameter : asked_parameters)
    if (parameter.name == name) return parameter.value(sampling);
  return std::nullopt;
}

}  // namespace paceline::trace
