#pragma once

#include <span>
#include <string>
#include <vector>

#include "dialect/dialect.hpp"
#include "dialect/fields.hpp"

namespace paceline::dialect {

/// A sampling parameter by trace::asked_parameters' name and by the server's.
struct ParameterName {
  const char* ours;
  const char* theirs;
};

/// Puts what the job asked of the sampler into a request, and tool_temp where it asked for no
/// temperature; nothing else.
void put_sampling(const Ask& ask, std::span<const ParameterName> names, util::Json& body);

/// Parameters that the job asks for and that have no name there, by our name.
std::vector<std::string> without_name(const trace::Sampling& sampling,
                                      std::span<const ParameterName> names);

/// Names of the parameters of llama.cpp's own routes; all that can be asked has one.
std::span<const ParameterName> llama_parameters();

/// Reads llama.cpp's generation_settings, or the params of /props. Every origin is the server: only
/// who knows the job can tell (name_origins). Samplers that idle are left out of the chain.
std::optional<trace::EffectiveSampling> read_llama_settings(const Fields& settings);

/// Says of each setting in force who asked for it, and notes where it is not what was asked.
void name_origins(const trace::Sampling& asked, trace::EffectiveSampling& in_force,
                  std::vector<std::string>& oddities);

}  // namespace paceline::dialect
