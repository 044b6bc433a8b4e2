#include "worker/llama/gguf_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "ggml.h"
#include "gguf.h"

namespace paceline::worker {

namespace {

tl::unexpected<util::Error> wrong_file(const std::string& path, const std::string& what) {
  return util::fail(util::ErrorKind::engine, fmt::format("'{}' {}", path, what));
}

util::Result<std::uint64_t> check_regular_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return wrong_file(path, fmt::format("cannot be opened ({}): check the path of the model.",
                                        std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    return wrong_file(path, "is not a file: name the GGUF file itself, not its folder.");
  if (status.st_size == 0)
    return wrong_file(path, "is empty: the download may have failed; fetch it again.");
  return static_cast<std::uint64_t>(status.st_size);
}

util::Result<void> check_magic(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return wrong_file(
        path, fmt::format("cannot be read ({}): check its permissions.", std::strerror(errno)));
  std::array<char, 4> magic{};
  const ssize_t count = read(file, magic.data(), magic.size());
  close(file);
  if (count != 4 || std::memcmp(magic.data(), GGUF_MAGIC, 4) != 0)
    return wrong_file(path,
                      "is not a GGUF file (it does not begin with \"GGUF\"): convert the model "
                      "with llama.cpp's convert_hf_to_gguf.py or name another file.");
  return {};
}

std::optional<std::int64_t> whole_number(const gguf_context* gguf, std::int64_t key) {
  switch (gguf_get_kv_type(gguf, key)) {
    case GGUF_TYPE_UINT8:
      return gguf_get_val_u8(gguf, key);
    case GGUF_TYPE_INT8:
      return gguf_get_val_i8(gguf, key);
    case GGUF_TYPE_UINT16:
      return gguf_get_val_u16(gguf, key);
    case GGUF_TYPE_INT16:
      return gguf_get_val_i16(gguf, key);
    case GGUF_TYPE_UINT32:
      return gguf_get_val_u32(gguf, key);
    case GGUF_TYPE_INT32:
      return gguf_get_val_i32(gguf, key);
    case GGUF_TYPE_INT64:
      return gguf_get_val_i64(gguf, key);
    default:
      return std::nullopt;
  }
}

}  // namespace

void GgufDeleter::operator()(gguf_context* gguf) const { gguf_free(gguf); }
void GgufDeleter::operator()(ggml_context* tensors) const { ggml_free(tensors); }

util::Result<GgufFile> GgufFile::open(const std::string& path) {
  GgufFile file;
  file.path_ = path;
  PACELINE_TRY_ASSIGN(file.file_bytes_, check_regular_file(path));
  PACELINE_TRY(check_magic(path));
  ggml_context* tensors = nullptr;
  file.gguf_.reset(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = &tensors}));
  file.tensors_.reset(tensors);
  if (file.gguf_ == nullptr)
    return wrong_file(path,
                      "is damaged or cut short: its GGUF head cannot be read; fetch it again.");
  file.architecture_ = file.text("general.architecture").value_or("");
  return file;
}

std::optional<std::string> GgufFile::text(const std::string& key) const {
  const std::int64_t id = gguf_find_key(gguf_.get(), key.c_str());
  if (id < 0 || gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_STRING) return std::nullopt;
  return gguf_get_val_str(gguf_.get(), id);
}

std::optional<std::int64_t> GgufFile::number(const std::string& key) const {
  const std::int64_t id = gguf_find_key(gguf_.get(), key.c_str());
  return id < 0 ? std::nullopt : whole_number(gguf_.get(), id);
}

std::optional<std::int64_t> GgufFile::own_number(const std::string& key) const {
  return number(architecture_ + "." + key);
}

std::optional<std::vector<std::int64_t>> GgufFile::own_numbers(const std::string& key) const {
  const std::int64_t id = gguf_find_key(gguf_.get(), (architecture_ + "." + key).c_str());
  if (id < 0 || gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_ARRAY) return std::nullopt;
  const std::size_t count = gguf_get_arr_n(gguf_.get(), id);
  const gguf_type type = gguf_get_arr_type(gguf_.get(), id);
  if (type == GGUF_TYPE_UINT32) {
    const auto* data = static_cast<const std::uint32_t*>(gguf_get_arr_data(gguf_.get(), id));
    return std::vector<std::int64_t>(data, data + count);
  }
  if (type == GGUF_TYPE_INT32) {
    const auto* data = static_cast<const std::int32_t*>(gguf_get_arr_data(gguf_.get(), id));
    return std::vector<std::int64_t>(data, data + count);
  }
  return std::nullopt;
}

std::optional<std::int64_t> GgufFile::vocabulary() const {
  const std::int64_t id = gguf_find_key(gguf_.get(), "tokenizer.ggml.tokens");
  if (id >= 0 && gguf_get_kv_type(gguf_.get(), id) == GGUF_TYPE_ARRAY)
    return static_cast<std::int64_t>(gguf_get_arr_n(gguf_.get(), id));
  return own_number("vocab_size");
}

std::optional<std::int64_t> GgufFile::trunk_layers() const {
  const auto blocks = own_number("block_count");
  if (!blocks) return std::nullopt;
  return *blocks - own_number("nextn_predict_layers").value_or(0);
}

std::map<std::string, std::uint64_t> GgufFile::bytes_by_type() const {
  std::map<std::string, std::uint64_t> bytes;
  for (std::int64_t i = 0; i < gguf_get_n_tensors(gguf_.get()); ++i)
    bytes[ggml_type_name(gguf_get_tensor_type(gguf_.get(), i))] +=
        gguf_get_tensor_size(gguf_.get(), i);
  return bytes;
}

std::uint64_t GgufFile::parameters() const {
  std::uint64_t elements = 0;
  for (ggml_tensor* tensor = ggml_get_first_tensor(tensors_.get()); tensor != nullptr;
       tensor = ggml_get_next_tensor(tensors_.get(), tensor))
    elements += static_cast<std::uint64_t>(ggml_nelements(tensor));
  return elements;
}

}  // namespace paceline::worker
