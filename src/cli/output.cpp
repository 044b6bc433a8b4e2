#include "cli/output.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "util/console.hpp"
#include "util/files.hpp"

namespace paceline::cli {

namespace {

constexpr int width_when_piped = 140;

}  // namespace

report::Style style_for(FILE* stream) {
  report::Style style;
  const bool terminal = ::isatty(::fileno(stream)) != 0;
  const char* kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  style.colour = terminal && !dumb && std::getenv("NO_COLOR") == nullptr;
  style.width = terminal ? util::terminal_columns(stream, 80) : width_when_piped;
  return style;
}

FILE* text_stream(const std::optional<std::string>& json_path) {
  return json_path == "-" ? stderr : stdout;
}

util::Result<void> write_out(const std::string& text, const std::string& json,
                             const std::optional<std::string>& json_path) {
  bool written = util::write_all(text_stream(json_path), text);
  if (json_path == "-") written = util::write_all(stdout, json);
  if (json_path && json_path != "-") PACELINE_TRY(util::write_file(*json_path, json));
  if (written) return {};
  return util::fail(util::ErrorKind::internal, "standard output could not be written");
}

}  // namespace paceline::cli
