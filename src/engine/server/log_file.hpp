#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "util/result.hpp"

namespace paceline::engine::server {

/// Where a server writes its log. A file, since a pipe that is full stops the server until somebody
/// reads it, which nobody does in a measured time; it lies where it can be followed while the
/// server loads, and is gone with this object.
class LogFile {
 public:
  /// A new file in `folder`, which is made.
  static util::Result<LogFile> create(const std::filesystem::path& folder);

  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&& other) noexcept;
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile();

  const std::filesystem::path& path() const { return path_; }

  /// Bytes in it now.
  std::uintmax_t size() const;

  /// The last lines, at most 30 and of 500 bytes each.
  std::vector<std::string> tail() const;

  /// Empties the file when it is larger than `most` bytes, but for its tail. Its writer must
  /// append.
  void trim(std::size_t most = std::size_t{64} << 20);

 private:
  LogFile(std::filesystem::path path, int descriptor);
  void remove();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::vector<std::string> before_;  ///< the tail of what was cut off
};

}  // namespace paceline::engine::server
