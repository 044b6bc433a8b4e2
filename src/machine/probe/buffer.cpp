#include "machine/probe/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "machine/machine.hpp"
#include "machine/proc_text.hpp"

namespace paceline::machine {

namespace {

constexpr std::uint64_t huge_page = 2u << 20;

std::uint64_t round_up(std::uint64_t value) {
  return (value + huge_page - 1) / huge_page * huge_page;
}

}  // namespace

// The pages around the buffer stay forbidden, so that its mapping is never merged with another.
util::Result<Buffer> Buffer::make(std::uint64_t bytes, Pages pages) {
  const std::uint64_t reserved_bytes = round_up(bytes) + 3 * huge_page;
  const auto failed = [&] {
    return util::fail(
        util::ErrorKind::internal,
        fmt::format("no memory of {} bytes for a probe: {}", bytes, std::strerror(errno)));
  };
  void* reserved =
      mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return failed();
  Buffer buffer(reserved, reserved_bytes, bytes);
  if (mprotect(buffer.words_, round_up(bytes), PROT_READ | PROT_WRITE) != 0) return failed();
  // A kernel without huge pages refuses both; huge_bytes() tells what it gave.
  (void)madvise(buffer.words_, round_up(bytes),
                pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return buffer;
}

Buffer::Buffer(void* reserved, std::uint64_t reserved_bytes, std::uint64_t bytes)
    : reserved_(reserved),
      reserved_bytes_(reserved_bytes),
      words_(reinterpret_cast<std::uint64_t*>(
          round_up(reinterpret_cast<std::uint64_t>(reserved) + 1))),
      bytes_(bytes) {}

Buffer::Buffer(Buffer&& other) noexcept
    : reserved_(std::exchange(other.reserved_, nullptr)),
      reserved_bytes_(other.reserved_bytes_),
      words_(other.words_),
      bytes_(other.bytes_) {}

Buffer::~Buffer() {
  if (reserved_ != nullptr) munmap(reserved_, reserved_bytes_);
}

std::optional<std::uint64_t> Buffer::huge_bytes() const {
  return parse_huge_bytes(read_text("/proc/self/smaps").value_or(""),
                          reinterpret_cast<std::uint64_t>(words_));
}

std::optional<std::uint64_t> parse_huge_bytes(std::string_view smaps, std::uint64_t address) {
  const std::string head = fmt::format("{:x}-", address);
  for (const auto line : split(smaps, '\n')) {
    if (!line.starts_with(head)) continue;
    return parse_memory(smaps.substr(static_cast<std::size_t>(line.data() - smaps.data())),
                        "AnonHugePages");
  }
  return std::nullopt;
}

}  // namespace paceline::machine
