#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::protocol {

/// A frame is the payload's length as four little-endian bytes, then the payload.
/// Longer payloads are refused: a corrupt length must not become an allocation.
inline constexpr std::size_t longest_payload = 64u << 20;

/// The frame around a payload of at most longest_payload bytes.
std::string frame(std::string_view payload);

/// Cuts a byte stream into payloads, whatever pieces it arrives in.
class FrameReader {
 public:
  /// Adds bytes as they came from the pipe.
  void feed(std::string_view bytes);

  /// The next whole payload; nothing when more bytes are needed; an error when the stream
  /// cannot be a sequence of frames (and stays unreadable).
  util::Result<std::optional<std::string>> next();

 private:
  std::string buffer_;
  std::size_t start_ = 0;
};

}  // namespace paceline::protocol
