#pragma once

#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::worker {

/// A file that is on its way to the destination, and gone unless it arrives there.
class Unfinished {
 public:
  // Named by the process: two that write the same file at once must not share it.
  Unfinished(const std::string& destination, std::string_view step);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Why a file that was being written is not there, by errno.
util::Result<void> not_written(const std::string& destination);

}  // namespace paceline::worker
