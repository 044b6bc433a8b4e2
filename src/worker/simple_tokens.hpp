#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paceline::worker {

/// Token ids of text for which no tokenizer is known: a token is a run of letters with the space
/// before it, up to three digits, a run of one white space, or a single other character. Bytes past
/// ASCII are letters. Equal tokens have equal ids, numbered as they appear.
class SimpleTokens {
 public:
  std::vector<std::int32_t> of(std::string_view text);

 private:
  std::unordered_map<std::string, std::int32_t> ids_;
};

}  // namespace paceline::worker
