#include "cli/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "util/console.hpp"
#include "util/files.hpp"

namespace paceline::cli {

namespace {

constexpr int width_when_piped = 140;

/// Whether there is a GGUF file: perhaps another part of the model that is read.
bool is_model(const std::string& path) {
  std::array<char, 4> mark{};
  std::ifstream(path, std::ios::binary).read(mark.data(), mark.size());
  return std::string_view(mark.data(), mark.size()) == "GGUF";
}

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

util::Result<void> check_json_path(const std::optional<std::string>& json_path,
                                   const std::vector<std::string>& inputs) {
  if (!json_path || *json_path == "-") return {};
  std::error_code unknown;
  const bool ordinary = std::filesystem::is_regular_file(*json_path, unknown);
  const bool is_input = std::any_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
    return !input.empty() && util::is_same_file(input, *json_path);
  });
  if (is_input || (ordinary && is_model(*json_path)))
    return util::fail(util::ErrorKind::usage,
                      "--json would overwrite " + *json_path + ": name another file");
  return util::check_writable(*json_path);
}

}  // namespace paceline::cli
