#include "engine/server/binary.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "model/sha256.hpp"

namespace paceline::engine::server {

namespace {

tl::unexpected<util::Error> not_read(const std::filesystem::path& path, const char* why) {
  return util::fail(util::ErrorKind::usage,
                    fmt::format("cannot read the server's program {}: {}", path.string(), why));
}

}  // namespace

util::Result<Binary> read_binary(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_read(path, std::strerror(errno));
  std::array<char, 2> start{};
  file.read(start.data(), start.size());
  if (file.bad()) return not_read(path, "reading failed");
  Binary binary;
  binary.is_script = start == std::array{'#', '!'};
  PACELINE_TRY_ASSIGN(binary.sha256, model::sha256_of(path));
  return binary;
}

}  // namespace paceline::engine::server
