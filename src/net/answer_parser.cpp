#include "net/answer_parser.hpp"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <utility>

namespace paceline::net {

namespace {

namespace http = boost::beast::http;
using Error = boost::beast::error_code;
using Text = boost::beast::string_view;

constexpr std::uint32_t largest_head = 64 * 1024;
constexpr int most_interim = 16;
constexpr std::string_view start = "HTTP/1.";
// "0\r\n\r\n": nothing shorter can follow where a chunk begins, and Beast asserts that nothing
// does.
constexpr std::size_t shortest_chunk = 5;

std::string reason_of(const Error& error, std::size_t largest_body) {
  if (error == http::error::body_limit)
    return fmt::format("The answer is longer than the {} bytes that are taken", largest_body);
  if (error == http::error::header_limit)
    return fmt::format("The answer's headers are longer than {} bytes", largest_head);
  return fmt::format("The answer is not HTTP: {}", error.message());
}

}  // namespace

/// Beast's parser, keeping what it finds until that is taken.
class AnswerParser::Parser : public http::basic_parser<false> {
 public:
  Parser(std::size_t largest_body, bool to_head) {
    header_limit(largest_head);
    body_limit(largest_body);
    eager(true);
    skip(to_head);
  }

  void move_into(Step& step) {
    if (is_header_done() && !interim() && !std::exchange(head_taken_, true))
      step.head = std::move(head_);
    step.body += std::exchange(body_, {});
  }
  /// The first line is read.
  bool started() const { return started_; }
  int status() const { return status_; }
  /// "100 Continue" and its like, which announce the answer itself.
  bool interim() const { return status_ / 100 == 1; }
  bool at_chunk() const { return is_header_done() && chunked() && chunk_left_ == 0; }

 private:
  // Never called of an answer.
  void on_request_impl(http::verb, Text, Text, int, Error&) override {}
  void on_response_impl(int status, Text, int, Error&) override {
    started_ = true;
    status_ = head_.status = status;
  }
  void on_field_impl(http::field, Text name, Text value, Error&) override {
    // Fields behind a chunked body are of no use to anyone here.
    if (!is_header_done()) head_.headers.emplace_back(name, value);
  }
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text body, Error&) override {
    body_.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, Text, Error&) override { chunk_left_ = size; }
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
    chunk_left_ -= body.size();
    body_.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(Error&) override {}

  bool started_ = false;
  int status_ = 0;
  Step::Head head_;
  bool head_taken_ = false;
  std::string body_;
  std::uint64_t chunk_left_ = 0;
};

AnswerParser::AnswerParser(std::size_t largest_body, bool to_head)
    : largest_body_(largest_body), to_head_(to_head) {
  restart();
}
AnswerParser::~AnswerParser() = default;
AnswerParser::AnswerParser(AnswerParser&&) noexcept = default;
AnswerParser& AnswerParser::operator=(AnswerParser&&) noexcept = default;

void AnswerParser::restart() { parser_ = std::make_unique<Parser>(largest_body_, to_head_); }

AnswerParser::Step AnswerParser::feed(std::string_view bytes) {
  Step step;
  if (bytes.empty()) return step;
  begun_ = true;
  std::string before = std::exchange(pending_, {});
  before.append(before.empty() ? std::string_view() : bytes);
  std::string_view rest = before.empty() ? bytes : std::string_view(before);
  while (!rest.empty() && !step.whole && step.problem.empty()) {
    const std::size_t left = rest.size();
    take(rest, step);
    if (rest.size() == left) break;
  }
  pending_ = rest;
  if (pending_.size() > largest_head && !step.whole && step.problem.empty())
    step.problem = reason_of(http::error::header_limit, largest_body_);
  return step;
}

void AnswerParser::take(std::string_view& rest, Step& step) {
  if (!parser_->started() && rest.substr(0, start.size()) != start.substr(0, rest.size())) {
    step.problem = "The answer is not HTTP/1: it begins otherwise";
    return;
  }
  if (parser_->at_chunk() && rest.size() < shortest_chunk) return;
  Error error;
  const std::size_t used = parser_->put(boost::asio::buffer(rest.data(), rest.size()), error);
  rest.remove_prefix(used);
  parser_->move_into(step);
  if (error && error != http::error::need_more) {
    step.problem = reason_of(error, largest_body_);
    return;
  }
  if (!parser_->is_header_done()) return;
  if (!parser_->interim()) {
    step.whole = parser_->is_done();
  } else if (parser_->status() == 101 || ++interim_ > most_interim) {
    step.problem =
        fmt::format("The server answered {}, which was not asked for", parser_->status());
  } else {
    restart();
  }
}

bool AnswerParser::finish() {
  Error error;
  if (parser_->is_header_done()) parser_->put_eof(error);
  return parser_->is_done() && !error;
}

bool AnswerParser::reusable() const {
  return parser_->is_done() && parser_->keep_alive() && pending_.empty();
}

}  // namespace paceline::net
