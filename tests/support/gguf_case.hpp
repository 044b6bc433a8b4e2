#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/file_facts.hpp"

namespace paceline::support {

/// One input that GGUF readers choke on, and what a safe one says to it.
struct GgufCase {
  std::string id;     ///< C301 and so on, of the collection of real cases
  std::string input;  ///< in words
  std::string bytes;
  std::string refused;  ///< part of the refusal; empty: the file is read
  std::string odd;      ///< part of one oddity of a file that is read; empty: any or none
  std::function<bool(const model::FileFacts&)> holds = nullptr;  ///< of a file that is read
  std::string name = "model.gguf";
  std::map<std::string, std::string> beside = {};  ///< files in the same folder
};

std::vector<GgufCase> gguf_header_cases();
std::vector<GgufCase> gguf_key_cases();
std::vector<GgufCase> gguf_tensor_cases();
std::vector<GgufCase> gguf_set_cases();
std::vector<GgufCase> gguf_model_cases();

}  // namespace paceline::support
