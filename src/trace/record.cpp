#include "trace/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "trace/json.hpp"

namespace paceline::trace {

using util::Json;

PACELINE_JSON_FIELDS(LoadAverages, 3, one_minute, five_minutes, fifteen_minutes);
PACELINE_JSON_FIELDS(NumaNode, 3, id, cpus, memory_bytes);
PACELINE_JSON_FIELDS(MachineFacts, 22, processor, cores_online, cores_physical, l1d_bytes, l2_bytes,
                     l3_bytes, l3_cpus, llc_bytes, llc_instances, memory_bytes,
                     memory_available_bytes, numa_nodes, kernel, os, virtualised, hypervisor,
                     governor, clock_mhz, clock_min_mhz, clock_max_mhz, power_cap_w, load);
PACELINE_JSON_FIELDS(About, 4, command, folder, machine, fingerprint);
PACELINE_JSON_FIELDS(Resumption, 3, at, launches_kept, changes);

namespace {

constexpr int trace_format = 8;

/// In the order of Content.
constexpr std::array kinds = {"header",     "about",   "launch", "request",   "width",
                              "memory",     "load",    "fill",   "rereading", "draft_map",
                              "launch_end", "resumed", "end"};
static_assert(kinds.size() == std::variant_size_v<Content>);

template <class Value>
constexpr bool is_of_run = std::is_same_v<Value, Header> || std::is_same_v<Value, About> ||
                           std::is_same_v<Value, Launch> || std::is_same_v<Value, Resumption> ||
                           std::is_same_v<Value, End>;

template <std::size_t index = 0>
void read_content(std::size_t wanted, const Json& json, Record& record) {
  if constexpr (index < std::variant_size_v<Content>) {
    if (index != wanted) return read_content<index + 1>(wanted, json, record);
    auto& value = record.content.emplace<index>();
    using Value = std::variant_alternative_t<index, Content>;
    if constexpr (!is_of_run<Value>) util::read_field(json, "launch", record.launch);
    if constexpr (std::is_same_v<Value, End>)
      util::read_field(json, "interrupted", value.interrupted);
    else
      util::read_field(json, "value", value);
    if constexpr (std::is_same_v<Value, Launch>) record.launch = value.index;
  }
}

void check_format(const Json& json) {
  int format = 0;
  util::read_field(json, "format", format);
  if (format != trace_format)
    throw util::JsonMismatch("trace format " + std::to_string(format) +
                             " is not the one this version reads (" + std::to_string(trace_format) +
                             ")");
}

Record read(const Json& json) {
  std::string kind;
  util::read_field(json, "record", kind);
  if (kind == kinds[0]) check_format(json);
  for (std::size_t index = 0; index < kinds.size(); ++index) {
    if (kind != kinds[index]) continue;
    Record record;
    read_content(index, json, record);
    return record;
  }
  throw util::JsonMismatch("unknown record \"" + kind + "\"");
}

tl::unexpected<util::Error> misplaced(const char* why) {
  return util::fail(util::ErrorKind::usage, why);
}

}  // namespace

std::string line_of(const Record& record) {
  Json json;
  json["record"] = kinds[record.content.index()];
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, End>) {
          json["interrupted"] = value.interrupted;
        } else {
          if constexpr (!is_of_run<Value>) json["launch"] = record.launch;
          json["value"] = value;
        }
        if constexpr (std::is_same_v<Value, Header>) json["format"] = trace_format;
      },
      record.content);
  return util::dump_json(json);
}

util::Result<Record> read_record(std::string_view line, std::string_view where) {
  PACELINE_TRY_ASSIGN(const Json json, util::parse_json(line, where));
  try {
    return read(json);
  } catch (const std::exception& problem) {
    return util::fail(util::ErrorKind::usage, std::string(where) + ": " + problem.what());
  }
}

std::optional<std::string> header_id(std::string_view line) {
  if (line.find("header") == std::string_view::npos) return std::nullopt;
  const auto json = util::parse_json(line, "a line");
  if (!json || !json->is_object() || json->value("record", Json()) != kinds[0]) return std::nullopt;
  const auto value = json->find("value");
  if (value == json->end() || !value->is_object()) return "";
  const Json id = value->value("trace_id", Json());
  return id.is_string() ? id.get<std::string>() : "";
}

namespace {

/// True when a comparison or a sweep speaks of an arm that is none of the run's.
bool names_no_arm(const Header& header) {
  std::vector<std::string> names;
  if (header.comparison) {
    names = {header.comparison->a, header.comparison->b};
    if (!header.comparison->again.empty()) names.push_back(header.comparison->again);
  }
  if (header.sweep)
    for (const auto& point : header.sweep->points) names.push_back(point.arm);
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& name) { return find_arm(header.arms, name) == nullptr; });
}

/// An id is typed, printed in tables and part of hints.
util::Result<void> check(const Header& header) {
  constexpr std::size_t longest = 64;
  const std::string& id = header.trace_id;
  const bool is_plain =
      id.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") ==
      std::string::npos;
  if (id.empty() || id.size() > longest || !is_plain || id.front() == '-' || id == "last")
    return misplaced("trace_id is no id of a study: at most 64 letters, digits and -, not last");
  if (header.rounds < 0 || header.n_predict < 0)
    return misplaced("rounds or n_predict is below zero");
  return {};
}

/// Equal for requests of one launch that asked the same at the same time.
std::string words_of(const Request& request) {
  const Drafting drafting = request.drafting.value_or(Drafting{-1, 0});
  return fmt::format("{} {} {} {} {} {} {} {} {}", request.repetition, request.filled_tokens,
                     request.synced, request.seed, drafting.n_max, drafting.p_min,
                     request.prefill.began_ns, request.workload_class, request.prompt_id);
}

}  // namespace

util::Result<void> TraceBuilder::take(Record record) {
  if (auto* header = std::get_if<Header>(&record.content)) {
    if (begun_) return misplaced("a second header");
    PACELINE_TRY(check(*header));
    if (names_no_arm(*header)) return misplaced("it compares an arm that it has not");
    trace_.header = std::move(*header);
    begun_ = true;
    return {};
  }
  if (!begun_) return misplaced("a header must come first");
  if (ended_ && !std::holds_alternative<Resumption>(record.content))
    return misplaced("a record after the end");
  if (auto* launch = std::get_if<Launch>(&record.content)) {
    if (static_cast<std::size_t>(launch->index) != trace_.launches.size())
      return misplaced("launches are out of order");
    trace_.launches.push_back(std::move(*launch));
    progress_.emplace_back();
    return {};
  }
  if (auto* about = std::get_if<About>(&record.content)) {
    trace_.about = std::move(*about);
    return {};
  }
  if (const auto* end = std::get_if<End>(&record.content)) {
    trace_.interrupted = end->interrupted;
    ended_ = true;
    return {};
  }
  if (const auto* resumption = std::get_if<Resumption>(&record.content)) return resume(*resumption);
  return take_part(std::move(record));
}

util::Result<void> TraceBuilder::resume(const Resumption& resumption) {
  const auto kept = static_cast<std::size_t>(resumption.launches_kept);
  if (resumption.launches_kept < 0 || kept > trace_.launches.size())
    return misplaced("more launches are kept than there were");
  trace_.launches.resize(kept);
  progress_.resize(kept);
  trace_.resumptions.push_back(resumption);
  trace_.interrupted = false;
  ended_ = false;
  return {};
}

util::Result<void> TraceBuilder::take_part(Record record) {
  const auto index = static_cast<std::size_t>(record.launch);
  if (record.launch < 0 || index >= trace_.launches.size()) return misplaced("unknown launch");
  Launch& launch = trace_.launches[index];
  if (auto* request = std::get_if<Request>(&record.content)) {
    if (!request->warm_up && !progress_[index].requests.insert(words_of(*request)).second)
      return misplaced("the same request a second time");
    launch.requests.push_back(std::move(*request));
  } else if (auto* width = std::get_if<WidthTime>(&record.content)) {
    launch.widths.push_back(std::move(*width));
  } else if (auto* reading = std::get_if<MemoryReading>(&record.content)) {
    launch.memory.push_back(std::move(*reading));
  } else if (auto* cell = std::get_if<LoadCell>(&record.content)) {
    launch.loads.push_back(std::move(*cell));
  } else if (auto* filled = std::get_if<FilledDepth>(&record.content)) {
    launch.fills.push_back(std::move(*filled));
  } else if (auto* reread = std::get_if<Rereading>(&record.content)) {
    launch.rereadings.push_back(std::move(*reread));
  } else if (auto* map = std::get_if<DraftMap>(&record.content)) {
    launch.maps.push_back(std::move(*map));
  } else if (auto* outcome = std::get_if<Outcome>(&record.content)) {
    launch.outcome = std::move(*outcome);
    progress_[index].ended = true;
  }
  return {};
}

util::Result<Trace> TraceBuilder::finish() {
  if (!begun_) return misplaced("this is no trace: it has no header line");
  if (!ended_) trace_.interrupted = true;
  return std::move(trace_);
}

int TraceBuilder::launches_done() const {
  int done = 0;
  while (static_cast<std::size_t>(done) < trace_.launches.size() &&
         progress_[static_cast<std::size_t>(done)].ended &&
         trace_.launches[static_cast<std::size_t>(done)].outcome.kind != OutcomeKind::cancelled)
    ++done;
  return done;
}

}  // namespace paceline::trace
