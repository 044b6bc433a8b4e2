#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::util {

/// $XDG_CACHE_HOME/paceline, else ~/.cache/paceline: things that can be made again.
std::filesystem::path cache_folder();

/// $XDG_DATA_HOME/paceline, else ~/.local/share/paceline: traces and other evidence.
std::filesystem::path data_folder();

/// A file that ships with Paceline (models/.., workloads/..): in $PACELINE_SHARE when that is
/// set, else in share/paceline of the prefix that the running program is installed to.
std::filesystem::path shipped(std::string_view relative);

/// A program for Paceline's own use, in libexec/paceline of the running program's prefix.
std::filesystem::path own_program(std::string_view name);

/// Where a shell would find a program: the name itself when it has a slash, else in $PATH; nothing
/// when no file there can be run.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// A whole file, or why it cannot be read, with its path.
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes a whole file under a name of its own and renames it, so that it is never half there. What
/// is there already and no ordinary file (a device, a pipe) is written to as it is; behind a
/// symbolic link the file it points at is written.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

/// Whether write_file could write there, found out without touching what is there. Asked before
/// long work, so that its result has a place to go.
Result<void> check_writable(const std::filesystem::path& path);

/// Whether two paths lead to one file, be it there or not yet.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace paceline::util
