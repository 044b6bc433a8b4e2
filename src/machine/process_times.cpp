#include "machine/process_times.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "machine/proc_text.hpp"

namespace paceline::machine {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem))
    found.push_back(at->path());
  return found;
}

// Places behind the name, in the words of /proc/PID/stat: state, ppid, pgrp, ..
constexpr std::size_t group_place = 2;
constexpr std::size_t user_place = 11;
constexpr std::size_t system_place = 12;
constexpr std::size_t began_place = 19;

}  // namespace

std::optional<ProcessTime> parse_process_time(std::string_view stat) {
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  const auto fields = words(stat.substr(close + 1));
  if (fields.size() <= began_place) return std::nullopt;
  const auto group = parse_number<pid_t>(fields[group_place]);
  const auto user = parse_number<std::uint32_t>(fields[user_place]);
  const auto system = parse_number<std::uint32_t>(fields[system_place]);
  const auto began = parse_number<std::uint64_t>(fields[began_place]);
  if (!group || !user || !system || !began) return std::nullopt;
  return ProcessTime{std::string(stat.substr(open + 1, close - open - 1)), *group,
                     std::uint64_t{*user} + *system, *began};
}

ProcessTimes read_process_times(const fs::path& proc) {
  ProcessTimes times;
  for (const auto& entry : entries(proc)) {
    const auto process = parse_number<pid_t>(entry.filename().string());
    if (!process) continue;
    if (auto time = parse_process_time(read_text(entry / "stat").value_or("")))
      times.emplace(*process, std::move(*time));
  }
  return times;
}

std::optional<trace::Neighbour> busiest_neighbour(const ProcessTimes& before,
                                                  const ProcessTimes& after, pid_t engine) {
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [process, now] : after) {
    if (process == ::getpid() || now.group == engine) continue;
    const auto then = before.find(process);
    const bool is_new = then == before.end() || then->second.began != now.began;
    const std::uint64_t earlier = is_new ? 0 : std::min(then->second.ticks, now.ticks);
    by_name[now.name] += now.ticks - earlier;
  }
  const auto busiest = std::max_element(
      by_name.begin(), by_name.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  const long ticks_per_s = sysconf(_SC_CLK_TCK);
  if (busiest == by_name.end() || busiest->second == 0 || ticks_per_s <= 0) return std::nullopt;
  return trace::Neighbour{busiest->first,
                          static_cast<double>(busiest->second) / static_cast<double>(ticks_per_s)};
}

std::optional<long> involuntary_switches(const ProcessTimes& now, pid_t group,
                                         const fs::path& proc) {
  constexpr std::string_view key = "nonvoluntary_ctxt_switches:";
  std::optional<long> sum;
  for (const auto& [process, time] : now) {
    if (time.group != group) continue;
    for (const auto& thread : entries(proc / std::to_string(process) / "task")) {
      const std::string status = read_text(thread / "status").value_or("");
      for (const auto line : split(status, '\n'))
        if (line.starts_with(key))
          if (const auto count = parse_number<std::uint32_t>(trimmed(line.substr(key.size()))))
            sum = sum.value_or(0) + static_cast<long>(*count);
    }
  }
  return sum;
}

}  // namespace paceline::machine
