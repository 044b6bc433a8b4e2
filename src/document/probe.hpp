#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/known.hpp"
#include "machine/probe/survey.hpp"

namespace paceline::document {

/// Bytes/s of several repeats in one process. The mean is geometric.
struct Rates {
  double best = 0;
  double median = 0;
  Quantity mean;
};

struct ProbedBandwidth {
  std::string where;  ///< "machine", or "node 0" for threads and memory of one NUMA node
  std::string access;
  std::string pages;
  int threads = 0;
  std::uint64_t bytes = 0;   ///< moved in a repeat
  Known<double> huge_share;  ///< of the bytes, on huge pages
  Known<Rates> bytes_per_s;
};

/// Random rows read by one thread, in several walks. What disturbs one only adds time, so the least
/// is nearest to what the memory does.
struct ProbedGather {
  std::uint64_t row_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t shift_bytes = 0;
  bool dependent = false;
  std::string pages;
  double ns_per_row = 0;  ///< the least
  double ns_per_row_median = 0;
  double bytes_per_s = 0;  ///< of the rows alone, by the least time
};

struct ProbedDevice {
  std::string name;
  std::uint64_t bytes = 0;
  Known<Rates> upload_bytes_per_s;
  Known<Rates> download_bytes_per_s;
  Known<Rates> read_bytes_per_s;  ///< F16 weights, by a product of matrix and vector
};

/// What was measured of the memory, and when.
struct Probe {
  std::string created;
  double age_s = 0;
  double took_s = 0;
  std::uint64_t seed = 0;
  std::vector<ProbedBandwidth> bandwidth;
  Known<std::vector<ProbedGather>> gather;
  Known<std::vector<ProbedDevice>> devices;
  std::vector<std::string> findings;  ///< sentences by the rules of findings()
};

/// `now_s` is the time since the machine's start.
Probe to_probe(const machine::Survey& survey, double now_s);

/// What the figures say in words, by rules on the best of all repeats:
/// - threads: the fewest whose reads reach 95 % of the best bandwidth;
/// - translation of addresses (TLB): rows of 64 bytes from the largest table, on small pages over
///   huge ones, told when the ratio is at least 1.1 and the system gave huge pages for nine tenths;
/// - page crossing: rows of 4096 bytes that each lie on two small pages over those that lie on
///   one, told at 1.1 likewise;
/// - latency: rows of 64 bytes from the largest table, each naming the next, over 16 at once;
/// - waste: what 16 rows of 64 bytes at once reach of the bandwidth of one reading thread.
std::vector<std::string> findings(const machine::Survey& survey);

}  // namespace paceline::document
