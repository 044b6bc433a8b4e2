#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/byte_source.hpp"
#include "util/result.hpp"

namespace paceline::model {

/// Reads little-endian values one after the other and never beyond the end. `what` names the value
/// in errors, as in "the length of key 3"; the errors name the file, too.
class Cursor {
 public:
  Cursor(const ByteSource& source, std::string path);

  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return source_.size() - offset_; }

  template <class Number>
  util::Result<Number> number(std::string_view what) {
    using Bits = std::make_unsigned_t<Number>;
    PACELINE_TRY(need(sizeof(Number), what));
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      bits = static_cast<Bits>(bits | static_cast<Bits>(Bits{byte()} << (8 * i)));
    return static_cast<Number>(bits);
  }

  /// A length and that many bytes, at most `longest`.
  util::Result<std::string> text(std::uint64_t longest, std::string_view what);

  util::Result<void> skip(std::uint64_t count, std::string_view what);

  /// The bytes at `offset`, without moving; fewer at the end.
  std::string peek(std::uint64_t offset, std::size_t count) const;

  /// The error of a file that says what cannot be, with the place where it says so.
  tl::unexpected<util::Error> damaged(std::uint64_t where, std::string_view what) const;

  /// The error of a file that is whole and of a kind that is not read; `what` goes on from its
  /// name.
  tl::unexpected<util::Error> unfit(std::string_view what) const;

 private:
  util::Result<void> need(std::uint64_t count, std::string_view what);
  unsigned char byte();

  const ByteSource& source_;
  std::string path_;
  std::uint64_t offset_ = 0;
  std::vector<char> buffer_;
  std::uint64_t buffer_start_ = 0;
};

}  // namespace paceline::model
