#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "util/result.hpp"

namespace paceline::model {

/// The list beside laboratory models that says what their files hold, as sha256sum writes it.
inline constexpr const char* laboratory_list = "laboratory.sha256";

/// SHA-256 by file name, from the list's text; the error names a line that is none.
util::Result<std::map<std::string, std::string>> parse_laboratory_list(const std::string& text);

/// Refuses a model that the list in its folder names and that is another file: figures are quoted
/// by a laboratory model's name. Models without such a list are anybody's own and not checked.
util::Result<void> check_laboratory_file(const std::filesystem::path& path);

}  // namespace paceline::model
