#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include "trace/setup.hpp"

namespace paceline::trace {

/// A number that can be asked of the sampler, by the name it has everywhere.
struct AskedParameter {
  const char* name;
  std::optional<double> (*value)(const Sampling&);  ///< nothing when nobody asked
  void (*ask)(Sampling&, double);
  std::optional<double> neutral;  ///< switches its sampler off; absent: it only says how that works
};

template <auto Member>
std::optional<double> number_of(const Sampling& sampling) {
  const auto& value = sampling.*Member;
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

template <auto Member>
void ask_number(Sampling& sampling, double value) {
  auto& place = sampling.*Member;
  place = static_cast<typename std::remove_reference_t<decltype(place)>::value_type>(value);
}

template <auto Member>
constexpr AskedParameter asked_parameter(const char* name, std::optional<double> neutral) {
  return {name, number_of<Member>, ask_number<Member>, neutral};
}

/// All of them; `samplers` and `tool_temp` are no such numbers.
inline constexpr std::array asked_parameters = {
    asked_parameter<&Sampling::temp>("temp", 1),
    asked_parameter<&Sampling::top_k>("top_k", 0),
    asked_parameter<&Sampling::top_p>("top_p", 1),
    asked_parameter<&Sampling::min_p>("min_p", 0),
    asked_parameter<&Sampling::typical_p>("typical_p", 1),
    asked_parameter<&Sampling::top_n_sigma>("top_n_sigma", -1),
    asked_parameter<&Sampling::xtc_probability>("xtc_probability", 0),
    asked_parameter<&Sampling::xtc_threshold>("xtc_threshold", std::nullopt),
    asked_parameter<&Sampling::penalty_last_n>("penalty_last_n", std::nullopt),
    asked_parameter<&Sampling::penalty_repeat>("penalty_repeat", 1),
    asked_parameter<&Sampling::penalty_freq>("penalty_freq", 0),
    asked_parameter<&Sampling::penalty_present>("penalty_present", 0),
};

/// The value asked for under a name; nothing when nobody asked or nobody can.
inline std::optional<double> asked(const Sampling& sampling, std::string_view name) {
  for (const AskedParameter& parameter : asked_parameters)
    if (parameter.name == name) return parameter.value(sampling);
  return std::nullopt;
}

}  // namespace paceline::trace
