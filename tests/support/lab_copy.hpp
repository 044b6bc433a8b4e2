#pragma once

#include <functional>
#include <string>

#include "support/temporary_folder.hpp"

struct gguf_context;

namespace paceline::support {

/// Writes a copy of a laboratory model with other metadata into the folder; its path.
std::string lab_copy(const std::string& model, const TemporaryFolder& folder,
                     const std::function<void(gguf_context*)>& edit);

/// Writes a copy whose F16 tensors with that prefix have their own weights in random order; its
/// path.
std::string lab_copy_shuffled(const std::string& model, const TemporaryFolder& folder,
                              const std::string& prefix);

}  // namespace paceline::support
