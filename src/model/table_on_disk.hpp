#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace paceline::model {

/// Where a tensor's data lies.
struct TensorRange {
  std::string path;
  std::uint64_t offset = 0;  ///< in bytes
  std::uint64_t bytes = 0;
};

/// The table that llama.cpp v0.5.0 leaves in the model's file and maps, to read its rows from there
/// when a token needs them: one of more than 4 GiB (llama_model_loader::lazy_read). Absent: the
/// model has none, or the file cannot be read.
std::optional<TensorRange> table_on_disk(const std::string& path);

}  // namespace paceline::model
