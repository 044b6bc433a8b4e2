#pragma once

#include <filesystem>
#include <string>

#include "util/result.hpp"

namespace paceline::engine::server {

/// Which file was started. A program that loads its libraries from elsewhere is not told apart from
/// another one that loads others, and a script not from one that starts another program.
struct Binary {
  std::string sha256;      ///< of the file, 64 hexadecimal digits
  bool is_script = false;  ///< it begins with "#!": the server itself is another file
};

util::Result<Binary> read_binary(const std::filesystem::path& path);

}  // namespace paceline::engine::server
