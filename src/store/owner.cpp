#include "store/owner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace paceline::store {

namespace {

/// Field 22 of /proc/PID/stat, behind a name that may hold anything.
std::string start_of(long process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text, '\0');
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return "";
  constexpr int fields_between = 20;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < fields_between; ++i) fields >> field;
  return field;
}

}  // namespace

std::string process_words(long process) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return fmt::format("{} {} {}", process, start_of(process), boot);
}

std::string this_process() { return process_words(::getpid()); }

bool is_running(const std::string& owner) {
  const long process = std::strtol(owner.c_str(), nullptr, 10);
  return process > 0 && !start_of(process).empty() && process_words(process) == owner;
}

}  // namespace paceline::store
