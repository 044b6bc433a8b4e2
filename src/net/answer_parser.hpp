#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.hpp"

namespace paceline::net {

/// Takes an answer apart as its bytes come, however they are split into reads.
class AnswerParser {
 public:
  /// What some bytes brought.
  struct Step {
    struct Head {
      int status = 0;
      Headers headers;
    };
    std::optional<Head> head;
    std::string body;     ///< unchunked
    bool whole = false;   ///< nothing more belongs to the answer
    std::string problem;  ///< why this is no answer, or one too long; empty when it is
  };

  /// `to_head`: of a HEAD request, whose answer has no body whatever its headers say.
  AnswerParser(std::size_t largest_body, bool to_head);
  ~AnswerParser();
  AnswerParser(AnswerParser&&) noexcept;
  AnswerParser& operator=(AnswerParser&&) noexcept;

  /// Not to be called again once the answer is whole or has a problem.
  Step feed(std::string_view bytes);

  /// The connection ended: whether that makes the answer whole, as it does when its length was not
  /// said.
  bool finish();

  /// Any byte of the answer came.
  bool begun() const { return begun_; }
  /// The connection can take another request: the server keeps it, and sent nothing beyond the
  /// answer.
  bool reusable() const;

 private:
  class Parser;

  void take(std::string_view& rest, Step& step);
  void restart();

  std::unique_ptr<Parser> parser_;
  std::size_t largest_body_;
  bool to_head_;
  bool begun_ = false;
  int interim_ = 0;      ///< 1xx answers that came before
  std::string pending_;  ///< bytes that say nothing before more of them come
};

}  // namespace paceline::net
