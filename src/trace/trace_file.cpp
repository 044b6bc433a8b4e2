#include "trace/trace_file.hpp"

#include <cerrno>
#include <cstring>

#include "util/files.hpp"

namespace paceline::trace {

util::Result<void> check_new(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown) || std::filesystem::is_empty(path, unknown))
    return {};
  return util::fail(util::ErrorKind::usage,
                    path.string() + " exists already: a trace is evidence and not overwritten");
}

TraceFile::TraceFile(std::filesystem::path path, std::ios::openmode mode)
    : path_(std::move(path)), file_(path_, mode) {}

util::Result<std::unique_ptr<TraceFile>> TraceFile::open(const std::filesystem::path& path,
                                                         std::ios::openmode mode) {
  std::unique_ptr<TraceFile> file(new TraceFile(path, mode));
  if (!file->file_)
    return util::fail(util::ErrorKind::usage,
                      "cannot write the trace " + path.string() + ": " + std::strerror(errno));
  return file;
}

util::Result<std::unique_ptr<TraceFile>> TraceFile::create(const std::filesystem::path& path) {
  std::error_code problem;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), problem);
  if (problem)
    return util::fail(
        util::ErrorKind::usage,
        "cannot create the folder " + path.parent_path().string() + ": " + problem.message());
  PACELINE_TRY(check_new(path));
  return open(path, std::ios::binary);
}

util::Result<std::unique_ptr<TraceFile>> TraceFile::go_on(const std::filesystem::path& path,
                                                          std::string_view written) {
  PACELINE_TRY(util::write_file(path, written));
  return open(path, std::ios::binary | std::ios::app);
}

util::Result<void> TraceFile::take(const Record& record) {
  file_ << line_of(record) << '\n';
  file_.flush();
  if (file_) return {};
  return util::fail(util::ErrorKind::internal,
                    "cannot write on to the trace " + path_.string() + ": " + std::strerror(errno));
}

util::Result<Trace> read_trace(std::string_view text) {
  TraceBuilder builder;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    if (newline == std::string_view::npos) break;  // cut off within a line: what came before counts
    text.remove_prefix(newline + 1);
    const std::string where = "trace line " + std::to_string(number);
    PACELINE_TRY_ASSIGN(auto record, read_record(line, where));
    const auto taken = builder.take(std::move(record));
    if (!taken) return util::fail(util::ErrorKind::usage, where + ": " + taken.error().message);
  }
  return builder.finish();
}

}  // namespace paceline::trace
