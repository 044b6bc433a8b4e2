#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "study/plan.hpp"
#include "trace/machine_facts.hpp"

namespace paceline::study {

/// What a run stands on, each thing in words that differ when it does: files, programs, prompts,
/// the machine. A run is gone on with only where they are the same.
using Fingerprint = std::map<std::string, std::string>;

/// Of the run's own files (models, drafters, projectors, servers' programs, the workload), its
/// prompts and the machine. `programs` are this tool's own; `inputs` other files that were read.
Fingerprint fingerprint_of(const RunOptions& options, const trace::MachineFacts& machine,
                           const std::vector<std::filesystem::path>& programs,
                           const std::vector<std::string>& inputs);

/// A file in words: its size, when it was changed last, and a hash of its head and of samples from
/// all of it. A file that cannot be read says so.
std::string describe_file(const std::filesystem::path& path);

/// One sentence for each thing that differs, with both values.
std::vector<std::string> changes(const Fingerprint& before, const Fingerprint& now);

}  // namespace paceline::study
