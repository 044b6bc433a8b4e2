#include "engine/server/binary.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

namespace paceline::engine::server {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

tl::unexpected<util::Error> not_read(const std::filesystem::path& path, const char* why) {
  return util::fail(util::ErrorKind::usage,
                    fmt::format("cannot read the server's program {}: {}", path.string(), why));
}

}  // namespace

util::Result<Binary> read_binary(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_read(path, std::strerror(errno));
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  bool works = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  Binary binary;
  std::vector<char> bytes(piece);
  for (bool first = true; works && file; first = false) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    if (first) binary.is_script = std::string_view(bytes.data(), count).substr(0, 2) == "#!";
    works = EVP_DigestUpdate(context.get(), bytes.data(), count) == 1;
  }
  if (file.bad()) return not_read(path, "reading failed");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (!works || EVP_DigestFinal_ex(context.get(), digest.data(), &length) != 1)
    return util::fail(util::ErrorKind::internal, "OpenSSL cannot compute SHA-256 here");
  for (unsigned index = 0; index < length; ++index)
    binary.sha256 += fmt::format("{:02x}", digest[index]);
  return binary;
}

}  // namespace paceline::engine::server
