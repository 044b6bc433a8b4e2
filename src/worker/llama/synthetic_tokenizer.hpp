#pragma once

#include <cstdint>
#include <string>

#include "gguf.h"
#include "util/result.hpp"

namespace paceline::worker {

/// Gives the file a vocabulary of so many tokens: four special ones, the 256 bytes, what ASCII can
/// print, and words that no text has. Any text can be written in it, a letter a token.
void set_synthetic_tokenizer(std::int64_t vocabulary, gguf_context* gguf);

/// Gives the file the tokenizer of another file, with its last token as mask where it has none.
util::Result<void> copy_tokenizer(const std::string& path, std::int64_t vocabulary,
                                  gguf_context* gguf);

}  // namespace paceline::worker
