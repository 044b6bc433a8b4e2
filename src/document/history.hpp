#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/known.hpp"
#include "document/tool.hpp"

namespace paceline::document {

/// A study of the store, without its figures.
struct HistoryStudy {
  std::string id;
  std::string created;         ///< UTC, ISO 8601
  Known<std::string> command;  ///< that made it: "run", "fill", "demo"
  std::string tool_version;
  std::string state;   ///< "running", "cut off", "interrupted", "done", or "failed": nothing of it
                       ///< was done
  std::string models;  ///< names of files without folders, or addresses of servers
  std::string workload;
  int launches = 0;
  int requests = 0;
  int requests_failed = 0;
  int requests_superseded = 0;  ///< of launches that were cut off and made again
  int resumed = 0;              ///< times
  std::int64_t bytes = 0;       ///< taken in the store
  std::vector<std::string> tags;
};

/// What the store has: paceline.history/1.
struct History {
  std::string schema = "paceline.history/1";
  Tool tool;
  std::vector<HistoryStudy> studies;  ///< the newest first
};

/// A request of a study, from the store's own columns.
struct HistoryRequest {
  int launch = 0;
  bool superseded = false;
  std::string arm;
  std::string prompt_id;
  std::string workload_class;
  std::string outcome;
  bool in_load = false;
  Known<std::int64_t> output_tokens;
  Known<double> decode_s;
};

}  // namespace paceline::document
