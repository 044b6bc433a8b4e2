#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mock/truth.hpp"
#include "net/http.hpp"
#include "util/json.hpp"

namespace paceline::mock {

/// What one request for text asks for, whichever server it is made to.
struct Asked {
  std::string endpoint;  ///< the target without its query
  std::string prompt;    ///< messages as template_of makes them
  int prompt_tokens = 0;
  int images = 0;
  Limits limits;
  bool chat = false;
  bool stream = false;
  util::Json body;  ///< as it came

  /// A flag of the body; `otherwise` when it is not there or is none.
  bool flag(const char* name, bool otherwise = false) const;
  /// Whether stream_options asks for it, as for include_usage.
  bool stream_option(const char* name) const;
};

/// The part of a target before its query.
std::string_view path_of(std::string_view target);

/// Messages as the prompt that a chat template makes of them; parts that are no text are counted
/// in `images`.
std::string template_of(const util::Json& messages, int& images);

/// Reads the body of a request for text. It takes every server's word for the same thing: the
/// prompt in prompt, text, input or messages, the limit in max_tokens, n_predict and so on.
util::Result<Asked> read_asked(const Truth& truth, const net::Request& request);

}  // namespace paceline::mock
