#include "support/lab_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "gguf.h"
#include "support/worker_process.hpp"
#include "util/files.hpp"

namespace paceline::support {

namespace {

gguf_context* open_head(const std::string& path) {
  gguf_context* gguf = gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr});
  if (gguf == nullptr) throw std::runtime_error("cannot read " + path);
  return gguf;
}

std::string write_copy(const std::string& model, const TemporaryFolder& folder,
                       const std::string& bytes) {
  const std::string path = folder.path() / ("copy-of-" + model);
  if (!util::write_file(path, bytes)) throw std::runtime_error("cannot write " + path);
  return path;
}

void shuffle_halves(char* bytes, std::size_t size) {
  std::vector<std::uint16_t> halves(size / sizeof(std::uint16_t));
  std::memcpy(halves.data(), bytes, size);
  std::mt19937 random(1);
  // std::shuffle's order is the library's own; this one is the same everywhere.
  for (std::size_t i = halves.size(); i > 1; --i) std::swap(halves[i - 1], halves[random() % i]);
  std::memcpy(bytes, halves.data(), size);
}

}  // namespace

std::string lab_copy(const std::string& model, const TemporaryFolder& folder,
                     const std::function<void(gguf_context*)>& edit) {
  const std::string source = lab_model(model);
  gguf_context* gguf = open_head(source);
  // The tensors stay as they are, behind a head of another length.
  const std::string tensors = util::read_file(source).value().substr(gguf_get_data_offset(gguf));
  edit(gguf);
  std::string head(gguf_get_meta_size(gguf), '\0');
  gguf_get_meta_data(gguf, head.data());
  gguf_free(gguf);
  return write_copy(model, folder, head + tensors);
}

std::string lab_copy_shuffled(const std::string& model, const TemporaryFolder& folder,
                              const std::string& prefix) {
  const std::string source = lab_model(model);
  std::string bytes = util::read_file(source).value();
  gguf_context* gguf = open_head(source);
  for (std::int64_t i = 0; i < gguf_get_n_tensors(gguf); ++i)
    if (gguf_get_tensor_type(gguf, i) == GGML_TYPE_F16 &&
        std::string(gguf_get_tensor_name(gguf, i)).starts_with(prefix))
      shuffle_halves(bytes.data() + gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, i),
                     gguf_get_tensor_size(gguf, i));
  gguf_free(gguf);
  return write_copy(model, folder, bytes);
}

}  // namespace paceline::support
