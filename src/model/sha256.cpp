#include "model/sha256.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "util/sha256.hpp"

namespace paceline::model {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

tl::unexpected<util::Error> not_read(const std::filesystem::path& path, const char* why) {
  return util::fail(util::ErrorKind::usage, fmt::format("cannot read {}: {}", path.string(), why));
}

}  // namespace

util::Result<std::string> sha256_of(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_read(path, std::strerror(errno));
  util::Sha256 sha256;
  std::vector<char> bytes(piece);
  while (file) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    sha256.add({bytes.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) return not_read(path, "reading failed");
  return sha256.digits();
}

}  // namespace paceline::model
