#pragma once

#include <string>

#include "model/file_facts.hpp"
#include "model/gguf.hpp"
#include "util/result.hpp"

namespace paceline::model {

/// What a model is: from its file and, when it is split, from the files of the set beside it. The
/// error is that of the file itself; what is wrong with the others is among the oddities.
util::Result<FileFacts> read_file_facts(const std::string& path);

/// The same of a head that was read already.
FileFacts facts_of(const Gguf& file);

}  // namespace paceline::model
