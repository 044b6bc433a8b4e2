#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::util {

/// The SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);

  /// 64 hexadecimal digits of all bytes added; an error where OpenSSL cannot. Ends the object's
  /// use.
  Result<std::string> digits();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline::util
