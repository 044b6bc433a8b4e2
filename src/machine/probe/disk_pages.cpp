#include "machine/probe/disk_pages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>

namespace paceline::machine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_waits = 256;
constexpr std::uint64_t most_read_bytes = 32768;  // of a row: a pipe has room for twice that

tl::unexpected<util::Error> failed(const std::string& path) {
  return util::fail(util::ErrorKind::internal,
                    fmt::format("pages of '{}' cannot be timed: {}", path, std::strerror(errno)));
}

/// Pages that this thread had to wait for a disk for.
long disk_waits() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

/// Whole pages of a file, mapped.
class MappedFile {
 public:
  MappedFile(const std::string& path, std::uint64_t offset, std::uint64_t bytes) : bytes_(bytes) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    data_ = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(offset));
    close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (is_mapped()) munmap(data_, bytes_);
  }

  bool is_mapped() const { return data_ != MAP_FAILED; }
  char* data() const { return static_cast<char*>(data_); }

  /// So that a page brings no neighbours with it.
  bool expect_random_reads() const { return madvise(data_, bytes_, MADV_RANDOM) == 0; }

 private:
  std::uint64_t bytes_;
  void* data_ = MAP_FAILED;
};

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) ends_ = {-1, -1};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends_)
      if (end >= 0) close(end);
  }

  bool is_open() const { return ends_[0] >= 0; }

  bool take_in(const char* data, std::uint64_t bytes) const {
    errno = EIO;  // for a part of a row
    return write(ends_[1], data, bytes) == static_cast<ssize_t>(bytes);
  }

  void clear() const {
    std::array<char, 4096> unused{};
    while (read(ends_[0], unused.data(), unused.size()) > 0) {
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace

// A row is read by writing it into a pipe: where the file was cut short meanwhile that fails, and
// reading it here would end the process.
util::Result<std::vector<double>> ns_per_disk_page(const std::string& path, std::uint64_t offset,
                                                   std::uint64_t bytes, std::uint64_t row_bytes,
                                                   std::uint64_t seed, double for_s) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t before = offset % page;
  const MappedFile map(path, offset - before, before + bytes);
  const Pipe pipe;
  if (!map.is_mapped() || !map.expect_random_reads() || !pipe.is_open()) return failed(path);
  const std::uint64_t read_bytes = std::min(row_bytes, most_read_bytes);
  std::mt19937_64 random(seed);
  std::vector<double> samples;
  const auto give_up = Clock::now() + std::chrono::duration<double>(for_s);
  while (samples.size() < most_waits && Clock::now() < give_up) {
    const char* row = map.data() + before + random() % (bytes / row_bytes) * row_bytes;
    const long waits = disk_waits();
    const auto began = Clock::now();
    if (!pipe.take_in(row, read_bytes)) return failed(path);
    const std::chrono::duration<double, std::nano> took = Clock::now() - began;
    const long waited = disk_waits() - waits;
    pipe.clear();
    if (waited > 0) samples.push_back(took.count() / static_cast<double>(waited));
  }
  return samples;
}

}  // namespace paceline::machine
