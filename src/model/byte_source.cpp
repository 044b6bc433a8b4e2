#include "model/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/printable.hpp"

namespace paceline::model {

namespace {

tl::unexpected<util::Error> unusable(const std::string& path, const std::string& what) {
  return util::fail(util::ErrorKind::engine, fmt::format("'{}' {}", util::printable(path), what));
}

}  // namespace

std::size_t MemorySource::read(std::uint64_t offset, char* into, std::size_t count) const {
  if (offset >= bytes_.size()) return 0;
  return bytes_.copy(into, count, static_cast<std::size_t>(offset));
}

util::Result<FileSource> FileSource::open(const std::string& path) {
  // Not waiting: a named pipe without a writer would never open.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return unusable(path, fmt::format("cannot be opened ({}): check the path of the model and its "
                                      "permissions.",
                                      std::strerror(errno)));
  FileSource source(file, 0);
  struct stat status {};
  if (::fstat(file, &status) != 0)
    return unusable(path, fmt::format("cannot be read ({}).", std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    return unusable(path, "is not a file: name the GGUF file itself, not its folder.");
  if (status.st_size == 0)
    return unusable(path, "is empty: the download may have failed; fetch it again.");
  source.size_ = static_cast<std::uint64_t>(status.st_size);
  return source;
}

FileSource::FileSource(FileSource&& other) noexcept
    : file_(std::exchange(other.file_, -1)), size_(other.size_) {}

FileSource::~FileSource() {
  if (file_ >= 0) ::close(file_);
}

std::size_t FileSource::read(std::uint64_t offset, char* into, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got =
        ::pread(file_, into + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace paceline::model
