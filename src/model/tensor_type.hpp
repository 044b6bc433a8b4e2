#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace paceline::model {

/// One of ggml's tensor types: `bytes` for each `block` elements of a row.
struct TensorType {
  std::uint32_t id = 0;
  const char* name = "";
  std::uint64_t block = 1;
  std::uint64_t bytes = 0;
};

/// All types of ggml 0.25.1, by id.
std::span<const TensorType> tensor_types();

/// The type of that number; null when ggml has none, or has none any more.
const TensorType* find_tensor_type(std::uint32_t id);

/// ggml's name, or "type 42 (unknown)".
std::string tensor_type_name(std::uint32_t id);

/// What a file calls itself by llama.cpp's number for it (general.file_type), as in "Q4_K_M";
/// "type 99 (unknown)" for a number it does not have.
std::string file_type_name(std::int64_t number);

}  // namespace paceline::model
