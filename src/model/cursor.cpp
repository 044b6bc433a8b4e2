#include "model/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::size_t buffer_bytes = 1u << 16;
/// Far beyond any real head, most of which is the vocabulary: a bound for time and memory.
constexpr std::uint64_t longest_head = 256u << 20;

}  // namespace

Cursor::Cursor(const ByteSource& source, std::string path)
    : source_(source), path_(util::printable(path)) {}

/// Bytes are there and within the bound; the buffer holds the first of them.
util::Result<void> Cursor::need(std::uint64_t count, std::string_view what) {
  if (count > left())
    return damaged(offset_, fmt::format("{} takes {} bytes, but {} follow", what, count, left()));
  if (offset_ + count > longest_head)
    return unfit(
        fmt::format("has a head of more than {} MiB at {}, which no model has: fetch or "
                    "convert it again.",
                    longest_head >> 20, what));
  return {};
}

unsigned char Cursor::byte() {
  const bool buffered = offset_ >= buffer_start_ && offset_ < buffer_start_ + buffer_.size();
  if (!buffered) {
    buffer_start_ = offset_;
    buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, left())));
    // A disk that fails reads as zeros, which no check lets pass for a model.
    const std::size_t got = source_.read(offset_, buffer_.data(), buffer_.size());
    std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(got), buffer_.end(), '\0');
  }
  return static_cast<unsigned char>(buffer_[static_cast<std::size_t>(offset_++ - buffer_start_)]);
}

util::Result<std::string> Cursor::text(std::uint64_t longest, std::string_view what) {
  const std::uint64_t start = offset_;
  PACELINE_TRY_ASSIGN(const auto length,
                      number<std::uint64_t>(fmt::format("the length of {}", what)));
  if (length > longest)
    return damaged(start, fmt::format("{} claims {} bytes, more than the {} it can have", what,
                                      length, longest));
  PACELINE_TRY(need(length, what));
  std::string bytes = peek(offset_, static_cast<std::size_t>(length));
  offset_ += length;
  return bytes;
}

util::Result<void> Cursor::skip(std::uint64_t count, std::string_view what) {
  PACELINE_TRY(need(count, what));
  offset_ += count;
  return {};
}

std::string Cursor::peek(std::uint64_t offset, std::size_t count) const {
  std::string bytes(count, '\0');
  bytes.resize(source_.read(offset, bytes.data(), count));
  return bytes;
}

tl::unexpected<util::Error> Cursor::damaged(std::uint64_t where, std::string_view what) const {
  return util::fail(
      util::ErrorKind::engine,
      fmt::format("'{}' is damaged or cut short: at byte {}, {}; fetch or convert it again.", path_,
                  where, what));
}

tl::unexpected<util::Error> Cursor::unfit(std::string_view what) const {
  return util::fail(util::ErrorKind::engine, fmt::format("'{}' {}", path_, what));
}

}  // namespace paceline::model
