#include "report/machine.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/format.hpp"
#include "report/probe.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

using document::Known;
using document::Machine;
using util::printable;

constexpr std::size_t label_width = 14;

std::string line(const char* label, const std::string& text, const Style& style) {
  return labelled(label, text, label_width, style.width);
}

std::string plain(const std::string& text) { return printable(text); }
std::string size(std::uint64_t count) { return binary_bytes(count); }
std::string clock(double mhz) { return fmt::format("{:.0f} MHz", mhz); }
std::string share(double value) { return figure(100 * value) + " %"; }

/// The fact by its own renderer, or why it is not known.
template <class T, class Render>
std::string shown(const Known<T>& fact, Render render) {
  return fact.value ? render(*fact.value) : "unknown (" + printable(fact.reason) + ")";
}

std::string cores(const Machine& machine) {
  const auto number = [](int count) { return std::to_string(count); };
  return fmt::format("{} logical online, {} physical", shown(machine.cores_online, number),
                     shown(machine.cores_physical, number));
}

std::string caches(const Machine& machine) {
  std::string text =
      fmt::format("L1d {}, L2 {} (first core), L3 {}", shown(machine.l1d_bytes, size),
                  shown(machine.l2_bytes, size), shown(machine.l3_bytes, size));
  if (machine.l3_cpus.value) text += " shared by CPUs " + printable(*machine.l3_cpus.value);
  if (machine.llc_instances.value && *machine.llc_instances.value > 1)
    text += fmt::format("; {} such, {} together", *machine.llc_instances.value,
                        shown(machine.llc_bytes, size));
  return text;
}

std::string memory(const Machine& machine) {
  return fmt::format("{}, {} available", shown(machine.memory_bytes, size),
                     shown(machine.memory_available_bytes, size));
}

std::string numa(const std::vector<document::NumaNode>& nodes) {
  std::vector<std::string> parts;
  for (const auto& node : nodes)
    parts.push_back(fmt::format("node {}: CPUs {}, {}", node.id, printable(node.cpus),
                                shown(node.memory_bytes, size)));
  return listed(parts);
}

std::string clocks(const Machine& machine) {
  const auto& lowest = machine.clock_min_mhz;
  const auto& highest = machine.clock_max_mhz;
  const auto& cap = machine.power_cap_w;
  return fmt::format(
      "fastest core now {}, hardware {}{}", shown(machine.clock_mhz, clock),
      lowest.value && highest.value
          ? fmt::format("from {} to {}", clock(*lowest.value), clock(*highest.value))
          : "range unknown (" + printable(lowest.value ? highest.reason : lowest.reason) + ")",
      cap.value ? fmt::format(", power cap {:.3g} W", *cap.value) : "");
}

std::string hypervisor(const Machine& machine) {
  if (!machine.virtualised.value) return "unknown (" + printable(machine.virtualised.reason) + ")";
  if (!*machine.virtualised.value) return "none";
  return "yes, " + shown(machine.hypervisor, plain);
}

std::string averages(const document::LoadAverages& load) {
  return fmt::format("{} over 1 minute, {} over 5, {} over 15", figure(load.one_minute),
                     figure(load.five_minutes), figure(load.fifteen_minutes));
}

std::string device(const document::Device& device) {
  return fmt::format("{} ({}): {}, {} of {} free", printable(device.name), printable(device.type),
                     printable(device.description), size(device.memory_free_bytes),
                     size(device.memory_total_bytes));
}

std::string devices(const Known<std::vector<document::Device>>& devices, const Style& style) {
  if (!devices.value) return line("devices", "unknown (" + printable(devices.reason) + ")", style);
  if (devices.value->empty()) return line("devices", "ggml sees none", style);
  std::string text;
  for (const auto& each : *devices.value)
    text += line(text.empty() ? "devices" : "", device(each), style);
  return text;
}

std::string now(const document::LoadNow& now) {
  return fmt::format("CPU time stolen: {}; time in which some task waited for a CPU: {}; over {} s",
                     shown(now.steal_share, share), shown(now.pressure_share, share),
                     figure(now.elapsed_s));
}

}  // namespace

std::string machine(const document::MachineReport& report, const Style& style) {
  const Machine& machine = report.machine;
  std::string text = line("processor", shown(machine.processor, plain), style);
  text += line("cores", cores(machine), style);
  text += line("caches", caches(machine), style);
  text += line("memory", memory(machine), style);
  text += line("NUMA", shown(machine.numa_nodes, numa), style);
  text += line("clocks", clocks(machine), style);
  text += line("governor", shown(machine.governor, plain), style);
  text += line("hypervisor", hypervisor(machine), style);
  text += line("system", shown(machine.os, plain) + ", " + shown(machine.kernel, plain), style);
  text += devices(report.devices, style);
  text += line("load", shown(machine.load, averages), style);
  text += line("now", now(report.now), style);
  text += probe(report.probe, style);
  return text;
}

}  // namespace paceline::report
