#include "trace/trace_file.hpp"

#include <cerrno>
#include <cstring>
#include <memory>

#include "trace/json.hpp"

namespace paceline::trace {

using util::Json;

namespace {

constexpr int trace_format = 7;

template <class Value>
Json record(const char* kind, const Value& value) {
  Json json;
  json["record"] = kind;
  json["value"] = value;
  return json;
}

template <class Value>
Json launch_record(const char* kind, int launch_index, const Value& value) {
  Json json;
  json["record"] = kind;
  json["launch"] = launch_index;
  json["value"] = value;
  return json;
}

}  // namespace

TraceFile::TraceFile(std::filesystem::path path) : path_(std::move(path)) {}

util::Result<std::unique_ptr<TraceFile>> TraceFile::create(const std::filesystem::path& path) {
  std::error_code problem;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), problem);
  if (problem)
    return util::fail(
        util::ErrorKind::usage,
        "cannot create the folder " + path.parent_path().string() + ": " + problem.message());
  if (std::filesystem::exists(path, problem))
    return util::fail(util::ErrorKind::usage,
                      path.string() + " exists already: a trace is evidence and not overwritten");
  std::unique_ptr<TraceFile> file(new TraceFile(path));
  file->file_.open(path, std::ios::binary);
  if (!file->file_)
    return util::fail(util::ErrorKind::usage,
                      "cannot write the trace " + path.string() + ": " + std::strerror(errno));
  return file;
}

util::Result<void> TraceFile::line(const std::string& text) {
  file_ << text << '\n';
  file_.flush();
  if (file_) return {};
  return util::fail(util::ErrorKind::internal,
                    "cannot write on to the trace " + path_.string() + ": " + std::strerror(errno));
}

util::Result<void> TraceFile::begin(const Header& header) {
  Json json = record("header", header);
  json["format"] = trace_format;
  return line(util::dump_json(json));
}

util::Result<void> TraceFile::launch(const Launch& launch) {
  return line(util::dump_json(record("launch", launch)));
}

util::Result<void> TraceFile::request(int launch_index, const Request& request) {
  return line(util::dump_json(launch_record("request", launch_index, request)));
}

util::Result<void> TraceFile::width(int launch_index, const WidthTime& width) {
  return line(util::dump_json(launch_record("width", launch_index, width)));
}

util::Result<void> TraceFile::memory(int launch_index, const MemoryReading& reading) {
  return line(util::dump_json(launch_record("memory", launch_index, reading)));
}

util::Result<void> TraceFile::load(int launch_index, const LoadCell& cell) {
  return line(util::dump_json(launch_record("load", launch_index, cell)));
}

util::Result<void> TraceFile::fill(int launch_index, const FilledDepth& filled) {
  return line(util::dump_json(launch_record("fill", launch_index, filled)));
}

util::Result<void> TraceFile::rereading(int launch_index, const Rereading& rereading) {
  return line(util::dump_json(launch_record("rereading", launch_index, rereading)));
}

util::Result<void> TraceFile::draft_map(int launch_index, const DraftMap& map) {
  return line(util::dump_json(launch_record("draft_map", launch_index, map)));
}

util::Result<void> TraceFile::launch_end(int launch_index, const Outcome& outcome) {
  return line(util::dump_json(launch_record("launch_end", launch_index, outcome)));
}

util::Result<void> TraceFile::end(bool interrupted) {
  Json json;
  json["record"] = "end";
  json["interrupted"] = interrupted;
  return line(util::dump_json(json));
}

namespace {

/// Builds a Trace record by record; throws JsonMismatch at one that does not belong.
class Reader {
 public:
  void take(const Json& json) {
    std::string kind;
    util::read_field(json, "record", kind);
    if (kind == "header") return take_header(json);
    if (!begun_) throw util::JsonMismatch("a header must come first");
    if (kind == "launch") return take_launch(json);
    if (kind == "end") {
      util::read_field(json, "interrupted", trace_.interrupted);
      ended_ = true;
      return;
    }
    take_part(kind, json, launch_of(json));
  }

  Trace finish() {
    if (!ended_) trace_.interrupted = true;
    return std::move(trace_);
  }
  bool begun() const { return begun_; }

 private:
  void take_header(const Json& json) {
    int format = 0;
    util::read_field(json, "format", format);
    if (format != trace_format)
      throw util::JsonMismatch("trace format " + std::to_string(format) +
                               " is not the one this version reads (" +
                               std::to_string(trace_format) + ")");
    if (begun_) throw util::JsonMismatch("a second header");
    util::read_field(json, "value", trace_.header);
    begun_ = true;
  }

  void take_launch(const Json& json) {
    Launch launch;
    util::read_field(json, "value", launch);
    if (static_cast<std::size_t>(launch.index) != trace_.launches.size())
      throw util::JsonMismatch("launches are out of order");
    trace_.launches.push_back(std::move(launch));
  }

  Launch& launch_of(const Json& json) {
    std::size_t index = 0;
    util::read_field(json, "launch", index);
    if (index >= trace_.launches.size()) throw util::JsonMismatch("unknown launch");
    return trace_.launches[index];
  }

  static void take_part(const std::string& kind, const Json& json, Launch& launch) {
    if (kind == "request") {
      util::read_field(json, "value", launch.requests.emplace_back());
    } else if (kind == "width") {
      util::read_field(json, "value", launch.widths.emplace_back());
    } else if (kind == "memory") {
      util::read_field(json, "value", launch.memory.emplace_back());
    } else if (kind == "load") {
      util::read_field(json, "value", launch.loads.emplace_back());
    } else if (kind == "fill") {
      util::read_field(json, "value", launch.fills.emplace_back());
    } else if (kind == "rereading") {
      util::read_field(json, "value", launch.rereadings.emplace_back());
    } else if (kind == "draft_map") {
      util::read_field(json, "value", launch.maps.emplace_back());
    } else if (kind == "launch_end") {
      util::read_field(json, "value", launch.outcome);
    } else {
      throw util::JsonMismatch("unknown record \"" + kind + "\"");
    }
  }

  Trace trace_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace

util::Result<Trace> read_trace(std::string_view text) {
  Reader reader;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    if (newline == std::string_view::npos) break;  // cut off within a line: what came before counts
    text.remove_prefix(newline + 1);
    const std::string where = "trace line " + std::to_string(number);
    PACELINE_TRY_ASSIGN(const Json json, util::parse_json(line, where));
    try {
      reader.take(json);
    } catch (const std::exception& problem) {
      return util::fail(util::ErrorKind::usage, where + ": " + problem.what());
    }
  }
  if (!reader.begun())
    return util::fail(util::ErrorKind::usage, "this is no trace: it has no header line");
  return reader.finish();
}

}  // namespace paceline::trace
