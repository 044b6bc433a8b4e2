#pragma once

#include <filesystem>
#include <string>

#include "util/result.hpp"

namespace paceline::model {

/// SHA-256 of a file's bytes, in 64 hexadecimal digits; the error says why it cannot be read.
util::Result<std::string> sha256_of(const std::filesystem::path& path);

}  // namespace paceline::model
