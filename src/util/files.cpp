#include "util/files.hpp"

#include <fcntl.h>
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

tl::unexpected<Error> unwritable(ErrorKind kind, const fs::path& path, const std::string& why) {
  return fail(kind, "cannot write " + path.string() + ": " + why);
}

/// Creates an empty file beside `path` under a name that nothing had; empty when it cannot, with
/// errno saying why.
fs::path create_partial(const fs::path& path) {
  constexpr int most_names = 100;
  for (int i = 0; i < most_names; ++i) {
    const fs::path partial =
        path.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".part";
    const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      ::close(file);
      return partial;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

/// What a symbolic link points at, so that writing leaves the link where it is.
fs::path behind_links(const fs::path& path) {
  std::error_code problem;
  if (!fs::is_symlink(path, problem)) return path;
  const fs::path target = fs::weakly_canonical(path, problem);
  return problem ? path : target;
}

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

std::optional<fs::path> find_program(std::string_view name) {
  const auto is_program = [](const fs::path& path) {
    std::error_code problem;
    return fs::is_regular_file(path, problem) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string_view::npos)
    return is_program(name) ? std::optional<fs::path>(name) : std::nullopt;
  const char* set = std::getenv("PATH");
  std::istringstream folders(set != nullptr ? set : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && is_program(fs::path(folder) / name)) return fs::path(folder) / name;
  return std::nullopt;
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
  const fs::path target = behind_links(path);
  const bool in_place = is_special(target);
  const fs::path written = in_place ? target : create_partial(target);
  if (written.empty()) return unwritable(ErrorKind::internal, path, std::strerror(errno));
  errno = 0;
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code problem;
  if (!file) {
    const std::string why = std::strerror(errno);
    if (!in_place) fs::remove(written, problem);
    return unwritable(ErrorKind::internal, path, why);
  }
  if (!in_place) fs::rename(written, target, problem);
  return problem ? unwritable(ErrorKind::internal, path, problem.message()) : Result<void>{};
}

Result<void> check_writable(const fs::path& path) {
  std::error_code problem;
  if (fs::is_directory(path, problem)) return unwritable(ErrorKind::usage, path, "it is a folder");
  const fs::path target = behind_links(path);
  if (is_special(target)) return {};
  const fs::path tried = create_partial(target);
  if (tried.empty()) return unwritable(ErrorKind::usage, path, std::strerror(errno));
  fs::remove(tried, problem);
  return {};
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code problem;
  if (fs::equivalent(one, other, problem)) return true;
  return fs::weakly_canonical(one, problem) == fs::weakly_canonical(other, problem);
}

}  // namespace paceline::util
