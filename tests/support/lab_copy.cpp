#include "support/lab_copy.hpp"

#include <stdexcept>

#include "gguf.h"
#include "support/worker_process.hpp"
#include "util/files.hpp"

namespace paceline::support {

std::string lab_copy(const std::string& model, const TemporaryFolder& folder,
                     const std::function<void(gguf_context*)>& edit) {
  const std::string source = lab_model(model);
  gguf_context* gguf = gguf_init_from_file(source.c_str(), {.no_alloc = true, .ctx = nullptr});
  if (gguf == nullptr) throw std::runtime_error("cannot read " + source);
  // The tensors stay as they are, behind a head of another length.
  const std::string tensors = util::read_file(source).value().substr(gguf_get_data_offset(gguf));
  edit(gguf);
  std::string head(gguf_get_meta_size(gguf), '\0');
  gguf_get_meta_data(gguf, head.data());
  gguf_free(gguf);
  const std::string path = folder.path() / ("copy-of-" + model);
  if (!util::write_file(path, head + tensors)) throw std::runtime_error("cannot write " + path);
  return path;
}

}  // namespace paceline::support
