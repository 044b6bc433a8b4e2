#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace paceline::machine {

/// Inodes of the sockets that listen on a TCP port, from the text of /proc/net/tcp or tcp6.
std::vector<std::uint64_t> parse_listeners(std::string_view tcp, std::uint16_t port);

enum class Listener {
  none,     ///< nobody listens there
  group,    ///< a process of the group does
  other,    ///< somebody else does
  unknown,  ///< the system does not let us see
};

/// Who listens on a TCP port of this machine. `proc` is /proc but for tests.
Listener who_listens(std::uint16_t port, pid_t group, const std::filesystem::path& proc = "/proc");

}  // namespace paceline::machine
