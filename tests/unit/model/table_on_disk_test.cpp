#include "model/table_on_disk.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"

namespace paceline::model {
namespace {

constexpr std::uint64_t row_bytes = 256 * 2;  // F16
constexpr std::uint64_t rows_of_4_gib = (4ull << 30) / row_bytes;
constexpr std::uint32_t of_two_bytes = 1;

/// A file of such a tensor alone, all of which but its head is a hole.
std::string sparse_file(const support::TemporaryFolder& folder, const char* tensor,
                        std::uint64_t rows, std::uint64_t& data_offset) {
  const std::string path = (folder.path() / tensor).string();
  support::GgufBuilder builder("qwen4exp");
  builder.tensor_at(tensor, {256, rows}, of_two_bytes, 0);
  const std::string head = builder.bytes();  // padded, without data
  std::ofstream(path) << head;
  data_offset = head.size();
  std::filesystem::resize_file(path, head.size() + rows * row_bytes);
  return path;
}

TEST(TableOnDisk, IsOneOfMoreThanFourGiB) {
  const support::TemporaryFolder folder;
  std::uint64_t data_offset = 0;
  const char* name = "per_layer_token_embd.weight";
  EXPECT_FALSE(table_on_disk(sparse_file(folder, name, rows_of_4_gib, data_offset)));
  const auto path = sparse_file(folder, name, rows_of_4_gib + 1, data_offset);
  const auto table = table_on_disk(path);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->path, path);
  EXPECT_EQ(table->offset, data_offset);
  EXPECT_EQ(table->bytes, (4ull << 30) + row_bytes);
}

TEST(TableOnDisk, IsNoOtherTensorAndNoFileThatCannotBeRead) {
  const support::TemporaryFolder folder;
  std::uint64_t data_offset = 0;
  EXPECT_FALSE(
      table_on_disk(sparse_file(folder, "token_embd.weight", rows_of_4_gib + 1, data_offset)));
  EXPECT_FALSE(table_on_disk((folder.path() / "none").string()));
}

}  // namespace
}  // namespace paceline::model
