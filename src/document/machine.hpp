#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/known.hpp"
#include "document/probe.hpp"
#include "document/tool.hpp"
#include "machine/machine.hpp"
#include "trace/facts.hpp"
#include "trace/request.hpp"
#include "util/result.hpp"

namespace paceline::document {

struct LoadAverages {
  double one_minute = 0;
  double five_minutes = 0;
  double fifteen_minutes = 0;
};

/// A part of the memory and the logical processors near it.
struct NumaNode {
  int id = 0;
  std::string cpus;
  Known<std::uint64_t> memory_bytes;
};

struct Machine {
  Known<std::string> processor;
  Known<int> cores_online;
  Known<int> cores_physical;
  Known<std::uint64_t> l1d_bytes;
  Known<std::uint64_t> l2_bytes;
  Known<std::uint64_t> l3_bytes;
  Known<std::string> l3_cpus;      ///< logical processors that share it
  Known<std::uint64_t> llc_bytes;  ///< of all caches before memory together
  Known<int> llc_instances;        ///< how many those are
  Known<std::uint64_t> memory_bytes;
  Known<std::uint64_t> memory_available_bytes;
  Known<std::vector<NumaNode>> numa_nodes;
  Known<std::string> kernel;
  Known<std::string> os;
  Known<bool> virtualised;
  Known<std::string> hypervisor;
  Known<std::string> governor;
  Known<double> clock_mhz;  ///< fastest core when the facts were read
  Known<double> clock_min_mhz;
  Known<double> clock_max_mhz;
  Known<double> power_cap_w;  ///< of all processor packages together, sustained
  Known<LoadAverages> load;   ///< when the facts were read
};

/// Something that ggml can compute on.
struct Device {
  std::string name;
  std::string type;
  std::string description;
  std::uint64_t memory_free_bytes = 0;
  std::uint64_t memory_total_bytes = 0;
};

/// Load of the machine over a short stretch of time.
struct LoadNow {
  double elapsed_s = 0;
  Known<double> steal_share;     ///< of the CPU time of all cores
  Known<double> pressure_share;  ///< of the time, some task waited for a CPU
};

/// What the machine is and does now: paceline.machine/1.
struct MachineReport {
  std::string schema = "paceline.machine/1";
  Tool tool;
  std::string created;
  Machine machine;
  Known<std::vector<Device>> devices;
  LoadNow now;
  Known<Probe> probe;
};

/// What is absent has that reason.
Machine to_machine(const machine::MachineFacts& facts,
                   const std::string& unread = "not readable on this machine");

/// The devices that ggml sees, or why it could not be asked.
Known<std::vector<Device>> to_devices(const util::Result<trace::Devices>& devices);

LoadNow to_load_now(const trace::Noise& noise);

}  // namespace paceline::document
