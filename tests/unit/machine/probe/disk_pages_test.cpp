#include "machine/probe/disk_pages.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/temporary_folder.hpp"

namespace paceline::machine {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t file_bytes = 8u << 20;
constexpr std::uint64_t page_bytes = 4096;

class DiskPages : public ::testing::Test {
 protected:
  DiskPages() { std::ofstream(path_) << std::string(file_bytes, 'x'); }

  /// Whether memory holds none of it any more; some file systems live there.
  bool drop_from_memory() const {
    const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    void* map = mmap(nullptr, file_bytes, PROT_READ, MAP_SHARED, file, 0);
    std::vector<unsigned char> held(file_bytes / page_bytes);
    mincore(map, file_bytes, held.data());
    munmap(map, file_bytes);
    close(file);
    return std::none_of(held.begin(), held.end(), [](unsigned char page) { return page & 1; });
  }

  support::TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "table").string();
};

// The 2048 pages come one by one, without their neighbours, so that 256 of them have to be waited
// for.
TEST_F(DiskPages, EachThatMemoryDoesNotHoldIsTimedAlone) {
  if (!drop_from_memory()) GTEST_SKIP() << "this file system keeps its pages in memory";
  const auto times = ns_per_disk_page(path_, 100, file_bytes - 100, 64, 1, 20);
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_THAT(*times, SizeIs(256));
  EXPECT_THAT(*times, Each(Gt(0)));
}

TEST_F(DiskPages, NoneIsTimedThatMemoryHolds) {
  const auto times = ns_per_disk_page(path_, 100, file_bytes - 100, 64, 1, 0.02);
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_THAT(*times, IsEmpty());
}

TEST_F(DiskPages, AFileThatIsGoneOrShorterThanItsTableIsAnError) {
  const auto gone = ns_per_disk_page(path_ + "2", 0, file_bytes, 64, 1, 1);
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("No such file"));
  const auto cut = ns_per_disk_page(path_, 0, 1000 * file_bytes, 64, 1, 20);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("Bad address"));
}

}  // namespace
}  // namespace paceline::machine
