#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/sse.hpp"

namespace {

using namespace paceline;

constexpr std::size_t longest = 200;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Feeds `parser` in pieces of 1 to 8 bytes, their sizes taken from what is fed.
template <class Parser, class Found>
void feed_in_pieces(Parser& parser, std::string_view stream, Found& found) {
  while (!stream.empty()) {
    const std::size_t size =
        std::min<std::size_t>(1 + static_cast<unsigned char>(stream.back()) % 8, stream.size());
    parser.feed(stream.substr(0, size), found);
    stream.remove_prefix(size);
  }
}

void check_events(std::string_view stream) {
  net::SseParser whole(longest);
  net::SseParser pieces(longest);
  std::vector<net::SseEvent> expected;
  std::vector<net::SseEvent> found;
  whole.feed(stream, expected);
  feed_in_pieces(pieces, stream, found);
  require(expected.size() == found.size() && whole.too_long() == pieces.too_long());
  for (std::size_t i = 0; i < found.size(); ++i) {
    require(found[i].name == expected[i].name && found[i].data == expected[i].data);
    require(found[i].data.size() <= longest && found[i].name.size() <= longest);
    require(found[i].data.find('\r') == std::string::npos);
  }
  require(whole.finish() == pieces.finish());
}

void check_lines(std::string_view stream) {
  net::LineParser whole(longest);
  net::LineParser pieces(longest);
  std::vector<std::string> expected;
  std::vector<std::string> found;
  whole.feed(stream, expected);
  feed_in_pieces(pieces, stream, found);
  require(expected == found && whole.too_long() == pieces.too_long());
  for (const auto& line : found)
    require(!line.empty() && line.size() <= longest && line.find('\n') == std::string::npos);
  require(whole.finish() == pieces.finish());
}

}  // namespace

// A stream gives the same events, and the same lines, whole and in pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  check_events(stream);
  check_lines(stream);
  return 0;
}
