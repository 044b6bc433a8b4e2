#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::model {

/// A known number of bytes that can be read from any offset.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;

  /// Fills `into` with up to `count` bytes from `offset` on; how many came, fewer at the end or
  /// when the disk fails.
  virtual std::size_t read(std::uint64_t offset, char* into, std::size_t count) const = 0;
};

/// Bytes in memory, which must outlive it.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t offset, char* into, std::size_t count) const override;

 private:
  std::string_view bytes_;
};

/// An ordinary file, open until this object goes.
class FileSource final : public ByteSource {
 public:
  /// The open file, or why it cannot be read as a model, with its path.
  static util::Result<FileSource> open(const std::string& path);

  FileSource(FileSource&& other) noexcept;
  FileSource& operator=(FileSource&&) = delete;
  ~FileSource() override;

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t offset, char* into, std::size_t count) const override;

 private:
  FileSource(int file, std::uint64_t size) : file_(file), size_(size) {}

  int file_;
  std::uint64_t size_;
};

}  // namespace paceline::model
