#include "util/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace paceline::util {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  bool works = context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1;

  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  State& state = *state_;
  state.works = state.works && EVP_DigestUpdate(state.context, bytes.data(), bytes.size()) == 1;
}

Result<std::string> Sha256::digits() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (!state_->works || EVP_DigestFinal_ex(state_->context, digest.data(), &length) != 1)
    return fail(ErrorKind::internal, "OpenSSL cannot compute SHA-256 here");
  std::string digits;
  for (unsigned index = 0; index < length; ++index) digits += fmt::format("{:02x}", digest[index]);
  return digits;
}

}  // namespace paceline::util
