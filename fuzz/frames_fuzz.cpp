#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/frame.hpp"
#include "protocol/message.hpp"

// What a broken or hostile worker may write: any bytes, in two pieces, as frames and as messages.
// A message that was understood must survive being sent on.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline::protocol;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FrameReader reader;
  reader.feed(bytes.substr(0, size / 2));
  reader.feed(bytes.substr(size / 2));
  for (auto payload = reader.next(); payload && *payload; payload = reader.next()) {
  }
  if (const auto command = decode_command(bytes))
    if (!decode_command(encode(*command))) std::abort();
  if (const auto report = decode_report(bytes))
    if (!decode_report(encode(*report))) std::abort();
  return 0;
}
