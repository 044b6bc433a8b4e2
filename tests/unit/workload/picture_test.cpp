#include "workload/picture.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "support/temporary_folder.hpp"
#include "util/child_process.hpp"
#include "util/files.hpp"

namespace paceline::workload {
namespace {

// Another decoder: Python's zlib checks the block's and its sum, binascii the chunks' sums.
constexpr const char* decoder = R"(
import base64, binascii, struct, sys, zlib
kind, coded = open(sys.argv[1]).read().split(",")
assert kind == "data:image/png;base64"
png = base64.b64decode(coded, validate=True)
assert png[:8] == b"\x89PNG\r\n\x1a\n"
at, data, names = 8, b"", []
while at < len(png):
    size, name = struct.unpack(">I4s", png[at:at + 8])
    body = png[at + 8:at + 8 + size]
    assert struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0] == binascii.crc32(name + body)
    names.append(name)
    if name == b"IHDR": head = struct.unpack(">IIBBBBB", body)
    if name == b"IDAT": data += body
    at += 12 + size
assert names == [b"IHDR", b"IDAT", b"IEND"]
assert head == (64, 64, 8, 2, 0, 0, 0), head
rows = zlib.decompress(data)
assert len(rows) == 64 * (1 + 64 * 3)
assert all(rows[y * 193] == 0 for y in range(64))
print(*rows[1:7], *rows[-3:])
)";

/// The first two pixels and the last, as Python sees them; its complaint where it sees no picture.
std::string decoded(std::uint32_t seed) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "picture";
  EXPECT_TRUE(util::write_file(path, picture_url(seed)));
  const auto shell = "exec python3 -c \"$1\" \"$2\" > \"$2.out\" 2>&1";
  auto python =
      util::ChildProcess::start({"/bin/sh", "-c", shell, "sh", decoder, path.string()}, {});
  EXPECT_TRUE(python);
  python->wait(std::chrono::minutes(1));
  return util::read_file(path.string() + ".out").value_or("nothing");
}

TEST(Picture, is_read_by_another_decoder_as_64_by_64_pixels_of_three_colours) {
  // Red is 4x, green 4y, blue 4(x xor y); 63 xor 63 is 0.
  EXPECT_EQ(decoded(0), "0 0 0 4 0 4 252 252 0\n");
  EXPECT_EQ(decoded(0x00030201), "0 2 3 5 2 7 253 254 3\n");
}

TEST(Picture, is_the_same_for_one_seed_and_another_for_the_next) {
  EXPECT_EQ(picture(7), picture(7));
  for (const std::uint32_t bit : {0u, 9u, 17u, 25u, 31u})
    EXPECT_NE(picture(7), picture(7 ^ (1u << bit))) << bit;
}

}  // namespace
}  // namespace paceline::workload
