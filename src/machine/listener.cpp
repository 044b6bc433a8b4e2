#include "machine/listener.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "machine/proc_text.hpp"
#include "machine/process_memory.hpp"

namespace paceline::machine {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view listening = "0A";  // TCP_LISTEN of the kernel's tcp_states.h

/// The port of "0100007F:1F90", which is in hexadecimal.
std::optional<unsigned> port_of(std::string_view address) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto digits = address.substr(colon + 1);
  unsigned port = 0;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), port, 16);
  if (problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return port;
}

/// Whether a process holds one of the sockets; nothing when its files may not be seen.
std::optional<bool> holds(const fs::path& process, const std::vector<std::string>& sockets) {
  std::error_code problem;
  fs::directory_iterator at(process / "fd", problem);
  if (problem) return std::nullopt;
  for (const fs::directory_iterator end; !problem && at != end; at.increment(problem)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(at->path(), gone).string();
    if (!gone && std::find(sockets.begin(), sockets.end(), target) != sockets.end()) return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint64_t> parse_listeners(std::string_view tcp, std::uint16_t port) {
  constexpr std::size_t local_address = 1;
  constexpr std::size_t state = 3;
  constexpr std::size_t inode = 9;
  std::vector<std::uint64_t> inodes;
  for (const auto line : split(tcp, '\n')) {
    const auto fields = words(line);
    if (fields.size() <= inode || fields[state] != listening) continue;
    if (port_of(fields[local_address]) != port) continue;
    if (const auto number = parse_number<std::uint64_t>(fields[inode])) inodes.push_back(*number);
  }
  return inodes;
}

Listener who_listens(std::uint16_t port, pid_t group, const fs::path& proc) {
  const auto tcp = read_text(proc / "net" / "tcp");
  const auto tcp6 = read_text(proc / "net" / "tcp6");
  if (!tcp && !tcp6) return Listener::unknown;
  std::vector<std::string> sockets;
  for (const auto& text : {tcp, tcp6})
    for (const std::uint64_t inode : parse_listeners(text.value_or(""), port))
      sockets.push_back("socket:[" + std::to_string(inode) + "]");
  if (sockets.empty()) return Listener::none;
  bool all_seen = true;
  for (const pid_t process : group_members(group, proc)) {
    const auto found = holds(proc / std::to_string(process), sockets);
    if (found == true) return Listener::group;
    if (!found) all_seen = false;
  }
  return all_seen ? Listener::other : Listener::unknown;
}

}  // namespace paceline::machine
