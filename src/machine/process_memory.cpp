#include "machine/process_memory.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <map>
#include <set>

#include "machine/machine.hpp"
#include "machine/proc_text.hpp"
#include "util/child_process.hpp"
#include "util/files.hpp"

namespace paceline::machine {

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr auto driver_patience = std::chrono::seconds(3);
constexpr std::size_t longest_answer = std::size_t{1} << 20;

/// "12 KiB", "12 kB" or "12" as bytes.
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto parts = words(text);
  if (parts.empty() || parts.size() > 2) return std::nullopt;
  const auto number = parse_number<std::uint64_t>(parts[0]);
  if (!number) return std::nullopt;
  const std::string_view unit = parts.size() == 2 ? parts[1] : "B";
  std::uint64_t factor = 0;
  if (unit == "B") factor = 1;
  if (unit == "KiB" || unit == "kB") factor = std::uint64_t{1} << 10;
  if (unit == "MiB") factor = std::uint64_t{1} << 20;
  if (unit == "GiB") factor = std::uint64_t{1} << 30;
  if (factor == 0 || *number > std::numeric_limits<std::uint64_t>::max() / factor)
    return std::nullopt;
  return *number * factor;
}

/// The region of "drm-PREFIX-region"; empty when the key is another.
std::string_view region_of(std::string_view key, std::string_view prefix) {
  return key.substr(0, prefix.size()) == prefix ? key.substr(prefix.size()) : std::string_view{};
}

void add(std::vector<trace::DeviceMemory>& devices, const std::string& device,
         std::uint64_t bytes) {
  const auto known = std::find_if(devices.begin(), devices.end(),
                                  [&](const auto& entry) { return entry.device == device; });
  if (known == devices.end())
    devices.push_back({device, bytes});
  else
    known->bytes += bytes;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem))
    found.push_back(at->path());
  return found;
}

/// What the drivers say in the processes' open files. One that may not be looked into says nothing.
std::vector<trace::DeviceMemory> read_drm(const std::vector<pid_t>& processes,
                                          const fs::path& proc) {
  std::vector<trace::DeviceMemory> devices;
  std::set<std::pair<std::string, std::string>> counted;
  for (const pid_t process : processes)
    for (const auto& file : entries(proc / std::to_string(process) / "fdinfo")) {
      const auto client = parse_fdinfo(read_text(file).value_or(""));
      if (!client || !counted.emplace(client->device, client->id).second) continue;
      for (const auto& [region, bytes] : client->regions)
        if (bytes > 0) add(devices, client->device + " " + region, bytes);
    }
  return devices;
}

/// All that a program writes; absent when it fails or does not end in time.
std::optional<std::string> output_of(const std::vector<std::string>& arguments) {
  auto child = util::ChildProcess::start(arguments, {});
  if (!child) return std::nullopt;
  child->close_input();
  const auto until = Clock::now() + driver_patience;
  std::string text;
  std::array<char, 4096> bytes{};
  while (text.size() < longest_answer) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wait{child->output(), POLLIN, 0};
    const int ready = left > 0 ? ::poll(&wait, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    const ssize_t count = ::read(child->output(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  const auto status = child->wait(std::chrono::milliseconds(200));
  if (!status || status->exit_code != 0) return std::nullopt;
  return text;
}

std::vector<trace::DeviceMemory> read_nvidia(const std::vector<pid_t>& processes) {
  const auto program = util::find_program("nvidia-smi");
  if (!program) return {};
  const auto answer = output_of({program->string(), "--query-compute-apps=pid,used_memory,gpu_uuid",
                                 "--format=csv,noheader,nounits"});
  return parse_compute_apps(answer.value_or(""), processes);
}

/// Of what `parse` finds in a file of each process, the sum over the group; `reason` says why there
/// is none.
std::optional<std::uint64_t> sum_over(const std::vector<pid_t>& processes, const fs::path& proc,
                                      const char* file,
                                      std::optional<std::uint64_t> (*parse)(std::string_view),
                                      std::string& reason) {
  std::uint64_t sum = 0;
  std::size_t read = 0;
  for (const pid_t process : processes) {
    const fs::path folder = proc / std::to_string(process);
    const auto bytes = parse(read_text(folder / file).value_or(""));
    // One that ended meanwhile holds nothing any more.
    if (!bytes && !parse_group(read_text(folder / "stat").value_or(""))) continue;
    if (!bytes) {
      reason = (folder / file).string() + " cannot be read";
      return std::nullopt;
    }
    sum += *bytes;
    ++read;
  }
  if (read > 0) return sum;
  reason = "no process of the engine was there";
  return std::nullopt;
}

/// Bytes of the line that begins with `key`.
std::optional<std::uint64_t> bytes_of_line(std::string_view text, std::string_view key) {
  for (const auto line : split(text, '\n'))
    if (line.substr(0, key.size()) == key) return parse_bytes(line.substr(key.size()));
  return std::nullopt;
}

}  // namespace

std::optional<pid_t> parse_group(std::string_view stat) {
  // The name in parentheses may hold anything, parentheses too.
  const auto name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const auto fields = words(stat.substr(name_end + 1));  // state, parent, group, ..
  if (fields.size() < 3 || fields[0] == "Z" || fields[0] == "X") return std::nullopt;
  return parse_number<pid_t>(fields[2]);
}

std::vector<pid_t> group_members(pid_t group, const fs::path& proc) {
  std::vector<pid_t> members;
  for (const auto& entry : entries(proc)) {
    const auto id = parse_number<pid_t>(entry.filename().native());
    if (id && parse_group(read_text(entry / "stat").value_or("")) == group) members.push_back(*id);
  }
  std::sort(members.begin(), members.end());
  return members;
}

std::optional<std::uint64_t> parse_pss(std::string_view smaps_rollup) {
  return bytes_of_line(smaps_rollup, "Pss:");
}

std::optional<std::uint64_t> parse_peak(std::string_view status) {
  return bytes_of_line(status, "VmHWM:");
}

std::optional<DrmClient> parse_fdinfo(std::string_view fdinfo) {
  DrmClient client;
  std::string driver;
  // By region, the best of three ways to say it, the last of this list first.
  constexpr std::array<std::string_view, 3> prefixes{"drm-total-", "drm-memory-", "drm-resident-"};
  std::map<std::string, std::pair<std::size_t, std::uint64_t>, std::less<>> regions;
  for (const auto line : split(fdinfo, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = line.substr(0, colon);
    const auto value = trimmed(line.substr(colon + 1));
    if (key == "drm-driver") driver = value;
    if (key == "drm-pdev") client.device = value;
    if (key == "drm-client-id") client.id = value;
    for (std::size_t rank = 0; rank < prefixes.size(); ++rank) {
      const auto region = region_of(key, prefixes[rank]);
      const auto bytes = parse_bytes(value);
      if (region.empty() || !bytes) continue;
      const auto known = regions.find(region);
      if (known == regions.end() || known->second.first < rank)
        regions.insert_or_assign(std::string(region), std::pair{rank, *bytes});
    }
  }
  if (driver.empty()) return std::nullopt;
  if (client.device.empty()) client.device = driver;
  for (const auto& [region, best] : regions) client.regions.emplace_back(region, best.second);
  return client;
}

std::vector<trace::DeviceMemory> parse_compute_apps(std::string_view csv,
                                                    const std::vector<pid_t>& processes) {
  std::vector<trace::DeviceMemory> devices;
  for (const auto line : split(csv, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() != 3) continue;
    const auto process = parse_number<pid_t>(trimmed(fields[0]));
    const auto bytes = parse_bytes(std::string(trimmed(fields[1])) + " MiB");
    if (!process || !bytes) continue;
    if (std::find(processes.begin(), processes.end(), *process) != processes.end())
      add(devices, std::string(trimmed(fields[2])), *bytes);
  }
  return devices;
}

trace::MemoryReading read_memory(std::optional<pid_t> group, trace::MemoryMoment when,
                                 const fs::path& proc) {
  trace::MemoryReading reading;
  reading.when = when;
  reading.available_bytes = parse_memory(read_text(proc / "meminfo").value_or(""), "MemAvailable");
  if (!group) {
    reading.reason = reading.peak_reason = "no process of the engine ran yet";
    return reading;
  }
  const auto processes = group_members(*group, proc);
  reading.pss_bytes = sum_over(processes, proc, "smaps_rollup", parse_pss, reading.reason);
  reading.peak_bytes = sum_over(processes, proc, "status", parse_peak, reading.peak_reason);
  reading.devices = read_drm(processes, proc);
  for (const auto& device : read_nvidia(processes))
    add(reading.devices, device.device, device.bytes);
  return reading;
}

}  // namespace paceline::machine
