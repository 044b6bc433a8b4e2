#include "support/lab_copy.hpp"

#include <stdexcept>

#include "ggml.h"
#include "gguf.h"
#include "support/worker_process.hpp"

namespace paceline::support {

std::string lab_copy(const std::string& model, const TemporaryFolder& folder,
                     const std::function<void(gguf_context*)>& edit) {
  ggml_context* tensors = nullptr;
  gguf_context* gguf =
      gguf_init_from_file(lab_model(model).c_str(), {.no_alloc = false, .ctx = &tensors});
  if (gguf == nullptr) throw std::runtime_error("cannot read " + model);
  edit(gguf);
  const std::string path = folder.path() / ("copy-of-" + model);
  const bool written = gguf_write_to_file(gguf, path.c_str(), false);
  gguf_free(gguf);
  ggml_free(tensors);
  if (!written) throw std::runtime_error("cannot write " + path);
  return path;
}

}  // namespace paceline::support
