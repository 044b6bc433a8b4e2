#include "util/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "util/clock.hpp"

namespace paceline::util {

namespace {
constexpr auto between_plain_lines = std::chrono::seconds(15);
}

Progress::Progress(bool terminal, bool silent)
    : terminal_(terminal),
      silent_(silent),
      began_(std::chrono::steady_clock::now()),
      last_line_(began_ - between_plain_lines) {}

void Progress::update(double done, double total, const std::string& what) {
  if (silent_ || total <= 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ && now - last_line_ < between_plain_lines) return;
  last_line_ = now;
  const double elapsed_s = std::chrono::duration<double>(now - began_).count();
  const double share = done / total;
  const std::string left = share > 0.02 ? for_people(elapsed_s * (1 - share) / share) + " left"
                                        : "time left unknown yet";
  const std::string line = fmt::format("{:3.0f} %  {}  {}", 100 * share, left, what);
  if (terminal_)
    fmt::print(stderr, "\r\033[K{:.{}}", line, 100);
  else
    fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (terminal_ && drawn_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace paceline::util
