#include "engine/server/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace paceline::engine::server {

namespace {

constexpr std::size_t lines_kept = 30;
constexpr std::size_t longest_line = 500;
constexpr std::size_t bytes_looked_at = lines_kept * longest_line * 2;
constexpr int most_names = 1000;

std::size_t size_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_size < 0) return 0;
  return static_cast<std::size_t>(status.st_size);
}

/// The last bytes of a file, as many as are looked at.
std::string end_of(int descriptor) {
  const std::size_t size = size_of(descriptor);
  const std::size_t from = size - std::min(size, bytes_looked_at);
  std::string text(size - from, '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), static_cast<off_t>(from));
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  // What is left of a line that begins before is none.
  if (from > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

void append_lines(std::string_view text, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    if (newline > 0) lines.emplace_back(text.substr(0, std::min(newline, longest_line)));
    text.remove_prefix(std::min(newline + 1, text.size()));
  }
}

}  // namespace

util::Result<LogFile> LogFile::create(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  for (int number = 0; number < most_names; ++number) {
    const auto path =
        folder / ("server-" + std::to_string(::getpid()) + "-" + std::to_string(number) + ".log");
    const int descriptor =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor >= 0) return LogFile(path, descriptor);
    if (errno != EEXIST) break;
  }
  return util::fail(util::ErrorKind::internal,
                    "cannot write the server's log into " + folder.string() + ": " +
                        std::strerror(errno) +
                        "; set XDG_CACHE_HOME to a folder that can be written");
}

LogFile::LogFile(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

LogFile::LogFile(LogFile&& other) noexcept { *this = std::move(other); }

LogFile& LogFile::operator=(LogFile&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  before_ = std::move(other.before_);
  return *this;
}

LogFile::~LogFile() { remove(); }

void LogFile::remove() {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::uintmax_t LogFile::size() const { return size_of(descriptor_); }

std::vector<std::string> LogFile::tail() const {
  std::vector<std::string> lines = before_;
  append_lines(end_of(descriptor_), lines);
  if (lines.size() > lines_kept)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(lines_kept));
  return lines;
}

void LogFile::trim(std::size_t most) {
  if (size_of(descriptor_) <= most) return;
  before_ = tail();
  if (::ftruncate(descriptor_, 0) != 0) before_.clear();
}

}  // namespace paceline::engine::server
