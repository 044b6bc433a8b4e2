#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workload/prompt.hpp"

namespace paceline::workload {

/// Text to fill a context with, and what it is made of in one sentence.
struct FillText {
  std::string text;
  std::string note;
};

/// At least so many bytes of `text`, repeated where it is shorter. `source` is how a sentence calls
/// it.
FillText repeated(const std::string& text, const std::string& source, std::size_t bytes);

/// The same of the texts of prompts, without those that are measured: a drafter that looks them up
/// would find them. Where all are measured, of all.
FillText fill_text(const std::vector<Prompt>& prompts, const std::vector<Prompt>& measured,
                   std::size_t bytes);

/// The first `bytes` bytes of UTF-8 text, or a few less: no letter is cut.
std::string beginning(const std::string& text, std::size_t bytes);

}  // namespace paceline::workload
