#include "util/printable.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace paceline::util {

namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: no valid UTF-8 starts here
};

unsigned byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

/// Overlong forms, surrogates and values past U+10FFFF are not valid: terminals differ on them.
bool is_scalar(std::uint32_t value, std::size_t bytes) {
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return value >= smallest[bytes] && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
}

CodePoint decode(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 && first < 0xF8   ? 4
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xC0 && first < 0xE0 ? 2
                                                            : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t value = first & (0x7Fu >> bytes);
  for (std::size_t index = 1; index < bytes; ++index) {
    const unsigned next = byte_at(text, index);
    if ((next & 0xC0u) != 0x80u) return {};
    value = value << 6 | (next & 0x3Fu);
  }
  return is_scalar(value, bytes) ? CodePoint{value, bytes} : CodePoint{};
}

bool within(std::uint32_t value, std::uint32_t first, std::uint32_t last) {
  return value >= first && value <= last;
}

bool is_harmful(std::uint32_t value) {
  const bool control = value < 0x20 || within(value, 0x7F, 0x9F);
  const bool turns_direction = within(value, 0x200E, 0x200F) || within(value, 0x202A, 0x202E) ||
                               within(value, 0x2066, 0x2069);
  const bool breaks_line = within(value, 0x2028, 0x2029);
  return control || turns_direction || breaks_line || value == 0xFEFF || value == 0x061C;
}

std::string escaped(std::uint32_t value) {
  return value < 0x100 ? fmt::format("\\x{:02x}", value) : fmt::format("\\u{:04x}", value);
}

bool is_combining(std::uint32_t value) {
  return within(value, 0x0300, 0x036F) || within(value, 0x20D0, 0x20FF) || value == 0x200D ||
         within(value, 0xFE00, 0xFE0F);
}

}  // namespace

std::string printable(std::string_view hostile) {
  std::string harmless;
  harmless.reserve(hostile.size());
  while (!hostile.empty()) {
    const CodePoint point = decode(hostile);
    if (point.bytes == 0) {
      harmless += escaped(byte_at(hostile, 0));
      hostile.remove_prefix(1);
      continue;
    }
    if (is_harmful(point.value))
      harmless += escaped(point.value);
    else
      harmless += hostile.substr(0, point.bytes);
    hostile.remove_prefix(point.bytes);
  }
  return harmless;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (!is_combining(point.value)) ++count;
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  return count;
}

}  // namespace paceline::util
