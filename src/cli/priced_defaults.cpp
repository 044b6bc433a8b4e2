#include "cli/priced_defaults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "document/sampling.hpp"
#include "trace/sampling.hpp"

namespace paceline::cli {

namespace {

const trace::AskedParameter* find_parameter(const std::string& name) {
  const auto found =
      std::find_if(trace::asked_parameters.begin(), trace::asked_parameters.end(),
                   [&](const trace::AskedParameter& parameter) { return parameter.name == name; });
  return found == trace::asked_parameters.end() ? nullptr : found;
}

trace::Arm without(const trace::Arm& arm, const trace::AskedParameter& parameter, double value) {
  trace::Arm other = arm;
  other.name = fmt::format("{}-no-{}", arm.name, parameter.name);
  parameter.ask(other.sampling, *parameter.neutral);
  other.neutralised = trace::Neutralised{arm.name, parameter.name, value};
  return other;
}

}  // namespace

util::Result<std::vector<trace::Arm>> with_priced_defaults(const std::vector<trace::Arm>& arms,
                                                           const trace::EffectiveSampling& in_force,
                                                           std::vector<std::string>& notes) {
  if (in_force.settings.empty())
    return util::fail(util::ErrorKind::usage,
                      "--price-defaults needs an engine that says what it samples with, and this "
                      "server does not: leave it out");
  std::vector<std::pair<const trace::AskedParameter*, double>> priced;
  for (const auto& setting : document::hidden_defaults(in_force)) {
    const trace::AskedParameter* parameter = find_parameter(setting.name);
    if (parameter == nullptr)
      notes.push_back(
          fmt::format("{} {:g} is in force unasked and has no price: no option switches it off",
                      setting.name, setting.value));
    else if (parameter->neutral)  // else it only shapes what another setting switches off
      priced.emplace_back(parameter, setting.value);
  }
  std::vector<trace::Arm> all;
  for (const auto& arm : arms) {
    all.push_back(arm);
    for (const auto& [parameter, value] : priced) all.push_back(without(arm, *parameter, value));
  }
  if (all.size() == arms.size())
    return util::fail(util::ErrorKind::usage,
                      "--price-defaults found nothing to price: no default that nobody asked for "
                      "filters or reshapes the text; leave it out");
  return all;
}

}  // namespace paceline::cli
