#include "machine/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "machine/probe/topology.hpp"
#include "machine/proc_text.hpp"

namespace paceline::machine {

namespace {

using Path = std::filesystem::path;

std::optional<std::string> line_of(const Path& path) {
  const auto text = read_text(path);
  const auto line = text ? trimmed(split(*text, '\n').front()) : std::string_view{};
  return line.empty() ? std::nullopt : std::optional<std::string>(line);
}

struct Field {
  std::string_view key;
  std::string_view value;
};

std::optional<Field> field_of(std::string_view line, char separator) {
  const auto at = line.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return Field{trimmed(line.substr(0, at)), trimmed(line.substr(at + 1))};
}

std::optional<double> finite_number(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) && *number >= 0 ? number : std::nullopt;
}

bool has_word(std::string_view text, std::string_view wanted) {
  for (const auto word : words(text))
    if (word == wanted) return true;
  return false;
}

void read_clock(CpuInfo& info, std::string_view value) {
  const auto mhz = finite_number(value);
  if (mhz && *mhz > info.clock_mhz.value_or(0)) info.clock_mhz = mhz;
}

std::optional<std::string> read_kernel() {
  utsname name{};
  if (uname(&name) != 0) return std::nullopt;
  return std::string(name.sysname) + " " + name.release;
}

std::optional<std::string> read_hypervisor() {
  if (auto type = line_of("/sys/hypervisor/type")) return type;
  return line_of("/sys/class/dmi/id/sys_vendor");
}

std::optional<int> count_cores_online() {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count <= 0 || count > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(count);
}

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo info;
  std::string_view package;
  std::set<std::pair<std::string_view, std::string_view>> cores;
  for (const auto line : split(text, '\n')) {
    const auto field = field_of(line, ':');
    if (!field) continue;
    if (field->key == "model name" && !info.processor && !field->value.empty())
      info.processor = std::string(field->value);
    if (field->key == "physical id") package = field->value;
    if (field->key == "core id") cores.insert({package, field->value});
    if (field->key == "cpu MHz") read_clock(info, field->value);
    if (field->key == "flags") info.virtualised = has_word(field->value, "hypervisor");
  }
  if (!cores.empty()) info.cores_physical = static_cast<int>(cores.size());
  return info;
}

std::optional<std::uint64_t> parse_memory(std::string_view meminfo, std::string_view wanted) {
  for (const auto line : split(meminfo, '\n')) {
    const auto field = field_of(line, ':');
    // A node's lines begin with "Node 0 ".
    if (!field || words(field->key).empty() || words(field->key).back() != wanted) continue;
    const auto parts = words(field->value);
    if (parts.size() != 2 || parts[1] != "kB") return std::nullopt;
    const auto kib = parse_number<std::uint64_t>(parts[0]);
    const bool fits = kib && *kib <= std::numeric_limits<std::uint64_t>::max() / 1024;
    return fits ? std::optional<std::uint64_t>(*kib * 1024) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> parse_os(std::string_view os_release) {
  for (const auto line : split(os_release, '\n')) {
    const auto field = field_of(line, '=');
    if (!field || field->key != "PRETTY_NAME") continue;
    auto name = field->value;
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"')
      name = name.substr(1, name.size() - 2);
    return name.empty() ? std::nullopt : std::optional<std::string>(name);
  }
  return std::nullopt;
}

std::optional<LoadAverages> parse_load(std::string_view loadavg) {
  const auto parts = words(loadavg);
  if (parts.size() < 3) return std::nullopt;
  const auto one = finite_number(parts[0]);
  const auto five = finite_number(parts[1]);
  const auto fifteen = finite_number(parts[2]);
  if (!one || !five || !fifteen) return std::nullopt;
  return LoadAverages{*one, *five, *fifteen};
}

std::optional<std::vector<NumaNode>> read_numa_nodes(const Path& folder) {
  constexpr std::string_view prefix = "node";
  std::vector<NumaNode> nodes;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const auto id = parse_number<int>(std::string_view(name).substr(prefix.size()));
    if (!id) continue;
    nodes.push_back({*id, line_of(entry.path() / "cpulist").value_or(""),
                     parse_memory(read_text(entry.path() / "meminfo").value_or(""))});
  }
  if (nodes.empty()) return std::nullopt;
  std::sort(nodes.begin(), nodes.end(),
            [](const NumaNode& left, const NumaNode& right) { return left.id < right.id; });
  return nodes;
}

std::optional<double> parse_khz(std::string_view khz) {
  const auto number = finite_number(trimmed(khz));
  return number && *number > 0 ? std::optional<double>(*number / 1000) : std::nullopt;
}

std::optional<double> read_power_cap_w(const Path& powercap) {
  std::optional<double> sum;
  std::error_code failed;
  for (const auto& zone : std::filesystem::directory_iterator(powercap, failed)) {
    // Parts of a package, and the whole platform ("psys"), are named otherwise; intel-rapl-mmio is
    // another door to the same packages.
    if (!zone.path().filename().string().starts_with("intel-rapl:") ||
        !line_of(zone.path() / "name").value_or("").starts_with("package"))
      continue;
    const auto microwatts =
        finite_number(line_of(zone.path() / "constraint_0_power_limit_uw").value_or(""));
    if (line_of(zone.path() / "constraint_0_name") != "long_term" || !microwatts ||
        *microwatts <= 0)
      return std::nullopt;
    sum = sum.value_or(0) + *microwatts * 1e-6;
  }
  return sum;
}

MachineFacts read_machine() {
  const CpuInfo cpu = parse_cpuinfo(read_text("/proc/cpuinfo").value_or(""));
  const Topology caches = read_topology();
  MachineFacts facts;
  facts.processor = cpu.processor;
  facts.cores_online = count_cores_online();
  facts.cores_physical = cpu.cores_physical;
  facts.l1d_bytes = caches.l1d_bytes;
  facts.l2_bytes = caches.l2_bytes;
  facts.l3_bytes = caches.l3_bytes;
  facts.l3_cpus = caches.l3_cpus;
  facts.llc_bytes = caches.llc_bytes;
  facts.llc_instances = caches.llc_instances;
  const std::string meminfo = read_text("/proc/meminfo").value_or("");
  facts.memory_bytes = parse_memory(meminfo);
  facts.memory_available_bytes = parse_memory(meminfo, "MemAvailable");
  facts.numa_nodes = read_numa_nodes("/sys/devices/system/node");
  facts.kernel = read_kernel();
  facts.os = parse_os(read_text("/etc/os-release").value_or(""));
  facts.virtualised = cpu.virtualised;
  if (cpu.virtualised.value_or(false)) facts.hypervisor = read_hypervisor();
  const Path clocks = "/sys/devices/system/cpu/cpu0/cpufreq";
  facts.governor = line_of(clocks / "scaling_governor");
  facts.clock_mhz = cpu.clock_mhz;
  facts.clock_min_mhz = parse_khz(line_of(clocks / "cpuinfo_min_freq").value_or(""));
  facts.clock_max_mhz = parse_khz(line_of(clocks / "cpuinfo_max_freq").value_or(""));
  facts.power_cap_w = read_power_cap_w("/sys/class/powercap");
  facts.load = parse_load(read_text("/proc/loadavg").value_or(""));
  return facts;
}

}  // namespace paceline::machine
