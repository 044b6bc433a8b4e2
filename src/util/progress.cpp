#include "util/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "util/clock.hpp"
#include "util/console.hpp"
#include "util/printable.hpp"

namespace paceline::util {

namespace {
constexpr auto between_plain_lines = std::chrono::seconds(15);
}

Progress::Progress(bool terminal)
    : terminal_(terminal),
      began_(std::chrono::steady_clock::now()),
      last_line_(began_ - between_plain_lines) {}

void Progress::update(double done, double total, const std::string& what) {
  if (total <= 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ && now - last_line_ < between_plain_lines) return;
  last_line_ = now;
  const double elapsed_s = std::chrono::duration<double>(now - began_).count();
  const double share = done / total;
  const std::string left = share > 0.02 ? for_people(elapsed_s * (1 - share) / share) + " left"
                                        : "time left unknown yet";
  std::string line = printable(fmt::format("{:3.0f} %  {}  {}", 100 * share, left, what));
  if (!terminal_) return say(line);
  // A line that wraps cannot be taken back.
  const auto room = static_cast<std::size_t>(std::max(1, terminal_columns(stderr, 80) - 1));
  if (columns(line) > room) line = printable(std::string_view(line).substr(0, room));
  write_all(stderr, "\r\033[K" + line);
  drawn_ = true;
}

void Progress::clear() {
  if (terminal_ && drawn_) write_all(stderr, "\r\033[K");
  drawn_ = false;
}

}  // namespace paceline::util
