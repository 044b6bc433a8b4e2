#include "model/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace paceline::model {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

tl::unexpected<util::Error> not_read(const std::filesystem::path& path, const char* why) {
  return util::fail(util::ErrorKind::usage, fmt::format("cannot read {}: {}", path.string(), why));
}

}  // namespace

util::Result<std::string> sha256_of(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_read(path, std::strerror(errno));
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  bool works = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> bytes(piece);
  while (works && file) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    works =
        EVP_DigestUpdate(context.get(), bytes.data(), static_cast<std::size_t>(file.gcount())) == 1;
  }
  if (file.bad()) return not_read(path, "reading failed");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (!works || EVP_DigestFinal_ex(context.get(), digest.data(), &length) != 1)
    return util::fail(util::ErrorKind::internal, "OpenSSL cannot compute SHA-256 here");
  std::string digits;
  for (unsigned index = 0; index < length; ++index) digits += fmt::format("{:02x}", digest[index]);
  return digits;
}

}  // namespace paceline::model
