#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/probe/bandwidth.hpp"
#include "machine/probe/gather.hpp"
#include "trace/facts.hpp"

namespace paceline::machine {

/// Bandwidth of one number of threads, a sample for each turn through the buffer.
struct BandwidthFigure {
  int threads = 0;
  std::optional<int> node;  ///< NUMA node that threads and memory are of; absent: the whole machine
  Access access = Access::read;
  Pages pages = Pages::huge;
  std::uint64_t bytes = 0;                  ///< moved in a turn
  std::optional<std::uint64_t> huge_bytes;  ///< on huge pages; absent: the system does not say
  std::vector<double> bytes_per_s;          ///< empty: not measured, see `reason`
  std::string reason;
};

/// Random rows read by one thread, a sample for each walk.
struct GatherFigure {
  std::uint64_t row_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t shift_bytes = 0;
  bool dependent = false;
  Pages pages = Pages::huge;
  std::optional<std::uint64_t> huge_bytes;  ///< of the whole buffer; absent: the system is silent
  std::uint64_t buffer_bytes = 0;
  std::vector<double> ns_per_row;
};

/// What figures are of: they are of no use on another machine, or after a new start of this one.
struct SurveyKey {
  std::string boot_id;
  std::string processor;
  int cpus = 0;  ///< logical processors that this process may run on
};

/// What was measured of the memory.
struct Survey {
  SurveyKey key;
  std::string created;  ///< UTC
  double booted_s = 0;  ///< time since the machine's start when it was done, asleep or not
  double took_s = 0;
  std::uint64_t seed = 0;             ///< of the order of rows
  std::uint64_t available_bytes = 0;  ///< memory for new programs when it began
  std::vector<BandwidthFigure> bandwidth;
  std::vector<GatherFigure> gather;
  std::string gather_reason;  ///< why gathers are missing, in whole or in part; empty: none are
  std::vector<trace::DeviceSpeed> devices;
  std::string devices_reason;  ///< why there are none; empty: there are
};

/// What a survey will measure, in that order.
struct SurveyPlan {
  struct Gather {
    Pages pages = Pages::huge;
    GatherSetup setup;
  };
  struct Bandwidth {
    std::optional<int> node;
    BandwidthSetup setup;
  };
  std::vector<Bandwidth> bandwidth;
  std::vector<Gather> gather;
  double bandwidth_s = 0;         ///< for the samples of one setup
  std::uint64_t cache_bytes = 0;  ///< of the largest cache before memory; 0: not known
  double expected_s = 0;          ///< for all of it, a guess made before anything is known

  /// One sentence for whoever waits.
  std::string says() const;
};

/// Every number of threads up to 16 and then powers of two and all of them; each node of several;
/// rows of 64 to 8192 bytes out of tables within and beyond the caches.
SurveyPlan plan_survey(const Topology& topology, int cpus, std::uint64_t available_bytes);

/// Hears what share of the work is done and what comes next; says whether to go on.
using Watch = std::function<bool(double done, const std::string& next)>;

/// Measures as planned; key, times and devices are the caller's. Stops between two measurements
/// once `watch` says so: then nothing is returned.
std::optional<Survey> take_survey(const SurveyPlan& plan, const Watch& watch);

/// The key of this machine now; absent where it has no boot id.
std::optional<SurveyKey> survey_key();

/// Seconds since the machine's start, those asleep included.
double seconds_since_boot();

/// The survey in a file's text, hostile or not, if it is of that key and taken before `now_s`
/// seconds after boot; the error says what is wrong with it.
util::Result<Survey> parse_survey(std::string_view text, const SurveyKey& key, double now_s);

std::string survey_text(const Survey& survey);

}  // namespace paceline::machine
