#pragma once

#include <memory>

#include "ggml.h"
#include "gguf.h"

namespace paceline::worker {

struct Freeing {
  void operator()(gguf_context* gguf) const { gguf_free(gguf); }
  void operator()(ggml_context* tensors) const { ggml_free(tensors); }
};
using GgufPtr = std::unique_ptr<gguf_context, Freeing>;
using TensorsPtr = std::unique_ptr<ggml_context, Freeing>;

}  // namespace paceline::worker
