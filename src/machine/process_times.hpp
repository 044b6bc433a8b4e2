#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "trace/request.hpp"

namespace paceline::machine {

/// CPU time of one process since it began, in units of 1/USER_HZ seconds.
struct ProcessTime {
  std::string name;  ///< as the system has it, at most 15 characters; its owner may choose any
  pid_t group = 0;
  std::uint64_t ticks = 0;
  std::uint64_t began = 0;  ///< when, in ticks since boot: tells processes of one number apart
};

/// From the text of /proc/PID/stat; absent when it makes no sense.
std::optional<ProcessTime> parse_process_time(std::string_view stat);

using ProcessTimes = std::map<pid_t, ProcessTime>;

/// Of every process that can be seen now. `proc` is the folder where the system's files are.
ProcessTimes read_process_times(const std::filesystem::path& proc);

/// The name whose processes used most CPU time between two readings, those of the group `engine`
/// and this process left out; absent when none used any. A process that began and ended between
/// them was not seen.
std::optional<trace::Neighbour> busiest_neighbour(const ProcessTimes& before,
                                                  const ProcessTimes& after, pid_t engine);

/// Times that a thread of the group was taken off its CPU against its will, as far as its threads
/// live; absent when none can be read.
std::optional<long> involuntary_switches(const ProcessTimes& now, pid_t group,
                                         const std::filesystem::path& proc);

}  // namespace paceline::machine
