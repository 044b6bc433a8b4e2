#include "workload/picture.hpp"

#include <boost/crc.hpp>
#include <string_view>

// PNG (ISO/IEC 15948) with its pixels in one stored block of zlib (RFC 1950, 1951): nothing is
// compressed, so that no library is needed and the bytes are the same everywhere.

namespace paceline::workload {

namespace {

constexpr std::uint32_t adler_modulus = 65521;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string chunk(const std::string& kind, const std::string& data) {
  const std::string body = kind + data;
  boost::crc_32_type crc;
  crc.process_bytes(body.data(), body.size());
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(crc.checksum());
}

std::uint32_t adler(std::string_view data) {
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const char byte : data) {
    low = (low + static_cast<unsigned char>(byte)) % adler_modulus;
    high = (high + low) % adler_modulus;
  }
  return high << 16 | low;
}

/// At most 65535 bytes as zlib has them: a header, one block that is the last, their sum.
std::string stored(const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  const std::uint32_t inverse = ~size;
  std::string bytes = {'\x78', '\x01', '\x01'};
  for (const std::uint32_t length : {size, inverse}) {
    bytes += static_cast<char>(length);
    bytes += static_cast<char>(length >> 8);
  }
  return bytes + data + big_endian(adler(data));
}

/// Rows from the top, each with a mark that it is not filtered: red grows to the right, green
/// downwards, and the seed shifts all three.
std::string pixels(std::uint32_t seed) {
  constexpr std::uint32_t step = 256 / picture_side;
  std::string rows;
  for (std::uint32_t y = 0; y < picture_side; ++y) {
    rows += '\0';
    for (std::uint32_t x = 0; x < picture_side; ++x) {
      rows += static_cast<char>(x * step + seed);
      rows += static_cast<char>(y * step + (seed >> 8));
      rows += static_cast<char>((x ^ y) * step + (seed >> 16));
    }
  }
  // The shifts leave 8 bits of the seed out: one pixel has them.
  rows[1] = static_cast<char>(seed >> 24);
  return rows;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i)
      text += at + i <= bytes.size() ? digits[three >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string picture(std::uint32_t seed) {
  const std::string side = big_endian(picture_side);
  const std::string eight_bits_of_rgb{'\x08', '\x02', '\0', '\0', '\0'};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", side + side + eight_bits_of_rgb) +
         chunk("IDAT", stored(pixels(seed))) + chunk("IEND", "");
}

std::string picture_url(std::uint32_t seed) {
  return "data:image/png;base64," + base64(picture(seed));
}

}  // namespace paceline::workload
