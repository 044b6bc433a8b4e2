#pragma once

#include <map>
#include <optional>
#include <string>

namespace paceline::trace {

/// What a mix says of one class.
struct MixClass {
  double share = 0;                          ///< of the mix's output tokens
  std::optional<double> tokens_per_request;  ///< output tokens of a request, the first one included
  std::optional<int> depth;                  ///< KV positions occupied while it decodes
};

/// DEFINITIONS 7: what classes a stated use is made of, frozen before the run.
struct Mix {
  std::string name;
  std::map<std::string, MixClass> classes;
};

/// Why nothing can be computed from a mix: no class, a share below 0 or shares that do not add up
/// to 1, with their sum. Empty when the mix is good.
std::string reason_against(const Mix& mix);

}  // namespace paceline::trace
