#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "util/result.hpp"

struct gguf_context;
struct ggml_context;

namespace paceline::worker {

struct GgufDeleter {
  void operator()(gguf_context* gguf) const;
  void operator()(ggml_context* tensors) const;
};

/// The metadata of one GGUF file, read without its tensor data, to refuse what llama.cpp would
/// abort on. A key of another type than asked for counts as absent.
class GgufFile {
 public:
  /// Reads the file's head; the error names the path, what is wrong and what to do.
  static util::Result<GgufFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t file_bytes() const { return file_bytes_; }

  /// general.architecture; empty when the file has none.
  const std::string& architecture() const { return architecture_; }

  std::optional<std::string> text(const std::string& key) const;
  std::optional<std::int64_t> number(const std::string& key) const;

  /// The number under the architecture's own prefix, as in "qwen35." + "block_count".
  std::optional<std::int64_t> own_number(const std::string& key) const;

  /// An array of whole numbers under the architecture's own prefix.
  std::optional<std::vector<std::int64_t>> own_numbers(const std::string& key) const;

  /// Tokens in the tokenizer's list, else vocab_size; nothing when the file has neither.
  std::optional<std::int64_t> vocabulary() const;

  /// Layers of the trunk: block_count without the multi-token-prediction blocks.
  std::optional<std::int64_t> trunk_layers() const;

  /// Bytes of all tensors by ggml type name.
  std::map<std::string, std::uint64_t> bytes_by_type() const;

  /// Elements of all tensors.
  std::uint64_t parameters() const;

  const gguf_context* gguf() const { return gguf_.get(); }
  ggml_context* tensors() const { return tensors_.get(); }

 private:
  GgufFile() = default;

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  std::string architecture_;
  std::unique_ptr<gguf_context, GgufDeleter> gguf_;
  std::unique_ptr<ggml_context, GgufDeleter> tensors_;
};

}  // namespace paceline::worker
