#pragma once

#include <string>
#include <vector>

namespace paceline::util {

/// The arguments that this program was started with, its own name left out; empty where the system
/// does not say.
std::vector<std::string> own_arguments();

}  // namespace paceline::util
