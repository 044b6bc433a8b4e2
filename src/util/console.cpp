#include "util/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "util/printable.hpp"

namespace paceline::util {

namespace {
constexpr std::size_t longest_line = 500;
}

void say(std::string_view line) {
  const bool cut = line.size() > longest_line;
  std::string text = printable(line.substr(0, longest_line));
  if (cut) text += " ...";
  write_all(stderr, text + "\n");
}

bool write_all(FILE* stream, std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stream);
  return std::fflush(stream) == 0 && written == text.size();
}

int terminal_columns(FILE* stream, int otherwise) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return size.ws_col;
}

void fill_standard_descriptors() {
  int descriptor = 0;
  do {
    descriptor = ::open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

}  // namespace paceline::util
