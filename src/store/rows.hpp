#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::store {

/// A study as a list of studies shows it, from counters that are kept as it is made.
struct StudyRow {
  std::int64_t key = 0;
  std::string id;                   ///< the trace's
  std::string created;              ///< UTC, ISO 8601
  std::optional<std::string> kind;  ///< the command that made it; absent: its trace does not say
  std::string tool_version;
  std::string workload;
  std::string models;  ///< names of its files without folders, or addresses of its servers
  std::string state;   ///< "running", "cut off", "interrupted" (by the user) or "done"
  int launches = 0;
  int launches_done = 0;   ///< of those, that ended well; superseded ones left out
  int requests = 0;        ///< measured ones, those of superseded launches left out
  int failed = 0;          ///< of those
  int superseded = 0;      ///< requests of launches that were cut off and made again
  int resumed = 0;         ///< how often it was gone on with
  std::int64_t bytes = 0;  ///< its records take in the store
  std::vector<std::string> tags;
};

/// Whether it came to its end and nothing that it was made for was done.
inline bool failed_throughout(const StudyRow& study) {
  const bool any_request = study.requests > study.failed;
  const bool any_launch = study.requests == 0 && study.launches_done > 0;
  return study.state == "done" && !any_request && !any_launch;
}

/// Which studies are wanted; absent: all.
struct StudyFilter {
  std::optional<std::string> model;  ///< part of a model's name, in any case
  std::optional<std::string> kind;
  std::optional<std::string> since;  ///< UTC, ISO 8601 or its beginning
  std::optional<std::string> tag;
  int limit = -1;  ///< the newest so many; negative: all
};

/// One measured request as a list of requests shows it.
struct RequestRow {
  int launch = 0;
  bool superseded = false;  ///< its launch was cut off and made again
  std::string arm;
  int round = 0;
  std::string prompt_id;
  std::string workload_class;
  std::string outcome;
  bool in_load = false;                       ///< beside others, at a concurrency or a rate
  std::optional<std::int64_t> output_tokens;  ///< absent: not counted
  std::optional<double> decode_s;             ///< likewise
};

/// Which requests of a study are wanted; absent: all.
struct RequestFilter {
  std::optional<std::string> arm;
  std::optional<std::string> workload_class;
  std::optional<std::string> outcome;
};

/// One launch as it was made.
struct LaunchRow {
  int number = 0;
  int round = 0;
  std::string arm;
  std::optional<std::string> outcome;  ///< absent: it was cut off
  bool superseded = false;
  int requests = 0;
};

}  // namespace paceline::store
