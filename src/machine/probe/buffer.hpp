#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "util/result.hpp"

namespace paceline::machine {

/// The pages that memory is asked for in; a system may give small ones all the same.
enum class Pages { small, huge };

/// Memory that nothing has touched yet, on pages of its own; given back when destroyed.
class Buffer {
 public:
  /// The error says that the system has no such memory.
  static util::Result<Buffer> make(std::uint64_t bytes, Pages pages);

  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) = delete;
  ~Buffer();

  std::uint64_t* words() const { return words_; }
  std::size_t word_count() const { return bytes_ / sizeof(std::uint64_t); }
  std::uint64_t bytes() const { return bytes_; }

  /// Bytes of it that lie on huge pages now; absent where the system does not say.
  std::optional<std::uint64_t> huge_bytes() const;

 private:
  Buffer(void* reserved, std::uint64_t reserved_bytes, std::uint64_t bytes);

  void* reserved_;  ///< the buffer, and around it what must not be touched
  std::uint64_t reserved_bytes_;
  std::uint64_t* words_;
  std::uint64_t bytes_;
};

/// Bytes on huge pages of the mapping that begins at `address`, from the text of /proc/PID/smaps;
/// absent when it holds no such mapping.
std::optional<std::uint64_t> parse_huge_bytes(std::string_view smaps, std::uint64_t address);

}  // namespace paceline::machine
