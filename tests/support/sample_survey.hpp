#pragma once

#include "machine/probe/survey.hpp"

namespace paceline::support {

inline machine::BandwidthFigure sample_reads(int threads, machine::Pages pages,
                                             std::vector<double> samples) {
  const bool huge = pages == machine::Pages::huge;
  return {threads, {}, machine::Access::read, pages, 1000, huge ? 1000u : 0u, std::move(samples),
          ""};
}

inline machine::GatherFigure sample_gather(std::uint64_t row_bytes, bool dependent,
                                           machine::Pages pages, double ns) {
  const std::uint64_t table = 1u << 30;
  return {row_bytes, table,
          0,         dependent,
          pages,     pages == machine::Pages::huge ? table : 0,
          table,     {1.1 * ns, ns, 1.2 * ns}};
}

/// 40 GB/s at one thread, 50 at two and at three; a row takes 100 ns alone and 10 of 16 at once.
inline machine::Survey sample_survey() {
  using machine::Pages;
  machine::Survey survey;
  survey.key = {"0b6ee1a8-1234", "AMD EPYC", 3};
  survey.created = "2026-11-30T12:00:00Z";
  survey.booted_s = 1000;
  survey.took_s = 14;
  survey.seed = 1;
  survey.available_bytes = 8ULL << 30;
  survey.bandwidth = {sample_reads(1, Pages::huge, {39e9, 40e9, 41e9}),
                      sample_reads(1, Pages::small, {36e9, 37e9, 38e9}),
                      sample_reads(2, Pages::huge, {48e9, 49e9, 50e9}),
                      sample_reads(3, Pages::huge, {49e9, 50e9, 51e9})};
  survey.gather = {
      sample_gather(64, false, Pages::huge, 10), sample_gather(64, false, Pages::small, 25),
      sample_gather(64, true, Pages::huge, 100), sample_gather(64, true, Pages::small, 105),
      sample_gather(4096, false, Pages::small, 400)};
  machine::GatherFigure crossing = sample_gather(4096, false, Pages::small, 500);
  crossing.shift_bytes = 2048;
  survey.gather.push_back(crossing);
  survey.devices = {{"CPU", 1u << 28, {9e9, 10e9, 11e9}, {8e9, 8e9, 8e9}, {30e9, 31e9, 32e9}, ""},
                    {"CUDA0", 0, {}, {}, {}, "the device is busy"}};
  return survey;
}

}  // namespace paceline::support
