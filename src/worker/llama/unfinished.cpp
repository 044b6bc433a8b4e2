#include "worker/llama/unfinished.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace paceline::worker {

Unfinished::Unfinished(const std::string& destination, std::string_view step)
    : path_(fmt::format("{}.{}.{}", destination, ::getpid(), step)) {}

Unfinished::~Unfinished() { std::remove(path_.c_str()); }

util::Result<void> not_written(const std::string& destination) {
  const std::string why = errno != 0 ? std::strerror(errno) : "the source file is cut short";
  return util::fail(util::ErrorKind::engine,
                    fmt::format("'{}' could not be written ({}): check that its folder exists and "
                                "has room.",
                                destination, why));
}

}  // namespace paceline::worker
