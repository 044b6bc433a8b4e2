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
  const fs::path base = home != nullptr && *home != '\0' ? fs::path(home) : fs::current_path();
  return base / below_home / "paceline";
}

Error unreadable(const fs::path& path, const char* why) {
  return Error{ErrorKind::usage, "cannot read " + path.string() + ": " + why};
}

}  // namespace

fs::path cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

fs::path data_folder() { return xdg_folder("XDG_DATA_HOME", ".local/share"); }

fs::path shipped(std::string_view relative) {
  const char* set = std::getenv("PACELINE_SHARE");
  const fs::path base = set != nullptr && *set != '\0' ? set : PACELINE_SOURCE_DIR;
  return base / relative;
}

fs::path beside_this_program(std::string_view name) {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  return problem ? fs::path(name) : self.parent_path() / name;
}

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
  const fs::path partial = path.string() + ".part";
  errno = 0;
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code problem;
  if (file) fs::rename(partial, path, problem);
  if (!file || problem)
    return fail(ErrorKind::usage, "cannot write " + path.string() + ": " +
                                      (problem ? problem.message() : std::strerror(errno)));
  return {};
}

}  // namespace paceline::util
