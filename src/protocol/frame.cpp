#include "protocol/frame.hpp"

#include <cstdint>

#include "util/assert.hpp"

namespace paceline::protocol {

namespace {

constexpr std::size_t length_bytes = 4;

std::uint32_t read_length(std::string_view bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return length;
}

}  // namespace

std::string frame(std::string_view payload) {
  PACELINE_ASSERT(payload.size() <= longest_payload);
  std::string bytes;
  bytes.reserve(length_bytes + payload.size());
  for (std::size_t i = 0; i < length_bytes; ++i)
    bytes.push_back(static_cast<char>((payload.size() >> (8 * i)) & 0xff));
  bytes.append(payload);
  return bytes;
}

void FrameReader::feed(std::string_view bytes) {
  if (start_ > 0) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  buffer_.append(bytes);
}

util::Result<std::optional<std::string>> FrameReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  if (rest.size() < length_bytes) return std::optional<std::string>{};
  const std::size_t length = read_length(rest);
  if (length > longest_payload)
    return util::fail(util::ErrorKind::engine, "the stream of frames is corrupt: a frame claims " +
                                                   std::to_string(length) + " bytes");
  if (rest.size() < length_bytes + length) return std::optional<std::string>{};
  start_ += length_bytes + length;
  return std::optional<std::string>(std::string(rest.substr(length_bytes, length)));
}

}  // namespace paceline::protocol
