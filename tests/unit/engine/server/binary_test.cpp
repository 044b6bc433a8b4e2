#include "engine/server/binary.hpp"

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::engine::server {
namespace {

TEST(Binary, has_the_sha256_of_its_bytes) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "program";
  ASSERT_TRUE(util::write_file(path, "abc"));
  // The example of FIPS 180-2, appendix B.1.
  EXPECT_EQ(read_binary(path)->sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // Appendix B.3: a million times "a", which is nearly one piece of reading.
  ASSERT_TRUE(util::write_file(path, std::string(1'000'000, 'a')));
  EXPECT_EQ(read_binary(path)->sha256,
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  ASSERT_TRUE(util::write_file(path, ""));
  EXPECT_EQ(read_binary(path)->sha256,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Binary, larger_than_one_reading_is_hashed_whole) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "program";
  // 3 MiB and a byte of zeros, by sha256sum.
  ASSERT_TRUE(util::write_file(path, std::string((std::size_t{3} << 20) + 1, '\0')));
  EXPECT_EQ(read_binary(path)->sha256,
            "5983281b51c767c831104f52c95e4075f27e6f4fa8dd0526e3929f79176a1217");
}

TEST(Binary, that_is_a_script_says_so) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "program";
  ASSERT_TRUE(util::write_file(path, "#!/bin/sh\nexec llama-server \"$@\"\n"));
  EXPECT_TRUE(read_binary(path)->is_script);
  ASSERT_TRUE(util::write_file(path, "#"));
  EXPECT_FALSE(read_binary(path)->is_script);
}

TEST(Binary, that_cannot_be_read_is_an_error_with_its_path) {
  const auto binary = read_binary("/no/such/program");
  ASSERT_FALSE(binary);
  EXPECT_NE(binary.error().message.find("/no/such/program"), std::string::npos);
  EXPECT_FALSE(read_binary("/"));
}

}  // namespace
}  // namespace paceline::engine::server
