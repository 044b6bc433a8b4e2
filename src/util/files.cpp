#include "util/files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace paceline::util {

namespace fs = std::filesystem;

namespace {

fs::path xdg_folder(const char* variable, const char* below_home) {
  const char* set = std::getenv(variable);
  if (set != nullptr && *set != '\0') return fs::path(set) / "paceline";
  const char* home = std::getenv("HOME");
  const fs::path base = home != nullptr && *home != '\0' ? fs::path(home) : fs::path(".");
  return base / below_home / "paceline";
}

/// The folder above the bin/ this program runs from, wherever it was moved to; the build folder has
/// the layout of an installed tree.
fs::path prefix() {
  std::error_code problem;
  return fs::read_symlink("/proc/self/exe", problem).parent_path().parent_path();
}

Error unreadable(const fs::path& path, const char* why) {
  return Error{ErrorKind::usage, "cannot read " + path.string() + ": " + why};
}

tl::unexpected<Error> unwritable(const fs::path& path, const std::string& why) {
  return fail(ErrorKind::usage, "cannot write " + path.string() + ": " + why);
}

fs::path partial_of(const fs::path& path) { return path.string() + ".part"; }

/// A device, a pipe or a socket: to be written to, not to be replaced by a file.
bool is_special(const fs::path& path) {
  std::error_code problem;
  return fs::is_other(fs::status(path, problem));
}

}  // namespace

fs::path cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

fs::path data_folder() { return xdg_folder("XDG_DATA_HOME", ".local/share"); }

fs::path shipped(std::string_view relative) {
  const char* set = std::getenv("PACELINE_SHARE");
  const bool is_set = set != nullptr && *set != '\0';
  return (is_set ? fs::path(set) : prefix() / "share/paceline") / relative;
}

fs::path own_program(std::string_view name) { return prefix() / "libexec/paceline" / name; }

Result<std::string> read_file(const fs::path& path) {
  std::error_code problem;
  if (fs::is_directory(path, problem))
    return tl::unexpected<Error>(unreadable(path, "it is a folder"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.eof() && !file)
    return tl::unexpected<Error>(unreadable(path, errno ? std::strerror(errno) : "read failed"));
  return text.str();
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  const bool in_place = is_special(path);
  const fs::path written = in_place ? path : partial_of(path);
  errno = 0;
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code problem;
  if (!file) {
    const std::string why = std::strerror(errno);
    if (!in_place) fs::remove(written, problem);
    return unwritable(path, why);
  }
  if (!in_place) fs::rename(written, path, problem);
  return problem ? unwritable(path, problem.message()) : Result<void>{};
}

Result<void> check_writable(const fs::path& path) {
  std::error_code problem;
  if (fs::is_directory(path, problem)) return unwritable(path, "it is a folder");
  if (is_special(path)) return {};
  const fs::path tried = partial_of(path);
  errno = 0;
  const bool opened = std::ofstream(tried, std::ios::binary | std::ios::app).is_open();
  if (!opened) return unwritable(path, std::strerror(errno));
  fs::remove(tried, problem);
  return {};
}

}  // namespace paceline::util
