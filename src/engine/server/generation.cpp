#include "engine/server/generation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialect/sampling.hpp"
#include "util/interrupt.hpp"
#include "util/printable.hpp"

namespace paceline::engine::server {

namespace {

constexpr int ok = 200;
constexpr std::size_t largest_stream = std::size_t{256} << 20;
constexpr std::size_t largest_other = std::size_t{16} << 20;  // templates, counters, errors
constexpr std::size_t most_pieces = 2'000'000;
constexpr std::size_t most_oddities = 20;
constexpr std::size_t most_quoted = 300;

std::string excerpt(const std::string& text) {
  return util::printable(text.substr(0, most_quoted)) + (text.size() > most_quoted ? ".." : "");
}

trace::OutcomeKind kind_of(net::EndKind kind) {
  switch (kind) {
    case net::EndKind::timed_out:
      return trace::OutcomeKind::timed_out;
    case net::EndKind::cancelled:
      return trace::OutcomeKind::cancelled;
    default:
      return trace::OutcomeKind::failed;
  }
}

}  // namespace

Generation::Generation(const dialect::Dialect& dialect, protocol::Generate job, std::string model,
                       bool with_counters)
    : dialect_(dialect),
      job_(std::move(job)),
      model_(std::move(model)),
      with_counters_(with_counters),
      stage_(with_counters ? Stage::counters_before : Stage::generate) {
  if (!job_.messages.empty() && dialect_.apply_template(job_.messages))
    stage_ = Stage::apply_template;
}

net::Request Generation::request() const {
  net::Request request;
  switch (stage_) {
    case Stage::apply_template:
      request = *dialect_.apply_template(job_.messages);
      break;
    case Stage::counters_before:
    case Stage::counters_after:
      request.target = *dialect_.counters_target();
      break;
    default:
      request = dialect_.generate({job_, model_});
  }
  request.largest_answer = stage_ == Stage::generate ? largest_stream : largest_other;
  return request;
}

void Generation::sent(net::TimePoint at) {
  status_ = 0;
  body_.clear();
  heard_ = at;
  if (stage_ != Stage::generate) return;
  answered_.answer.endpoint = dialect_.generate({job_, model_}).target;
  answered_.answer.timeline.sent_ns = trace::nanoseconds(at);
  answered_.answer.timeline.scheduled_ns = trace::nanoseconds(due_.value_or(at));
}

void Generation::take(const net::Arrival& arrival) {
  if (const auto* head = std::get_if<net::Head>(&arrival.what)) {
    status_ = head->status;
    content_type_ = net::header(head->headers, "content-type").value_or("");
    encoding_ = net::header(head->headers, "content-encoding").value_or("");
    location_ = net::header(head->headers, "location").value_or("");
  } else if (const auto* body = std::get_if<net::Body>(&arrival.what)) {
    if (stage_ == Stage::generate && status_ == ok)
      take_stream(arrival, *body);
    else
      body_ += body->bytes;
  } else {
    end(std::get<net::End>(arrival.what));
  }
}

/// Cuts the bytes into messages and keeps them as they are, with the time of the read.
void Generation::take_stream(const net::Arrival& arrival, const net::Body& body) {
  auto& timeline = answered_.answer.timeline;
  if (!timeline.first_byte_ns) timeline.first_byte_ns = trace::nanoseconds(arrival.at);
  const auto keep = [&](std::string text) {
    if (text == "[DONE]") {
      said_done_ = true;
      return;
    }
    heard_ = arrival.at;
    piece_bytes_ += text.size();
    if (!is_too_long()) pieces_.push_back({arrival.at, std::move(text)});
  };
  if (dialect_.framing() == dialect::Framing::sse) {
    sse_events_.clear();
    sse_.feed(body.bytes, sse_events_);
    for (auto& event : sse_events_) keep(std::move(event.data));
  } else {
    line_events_.clear();
    lines_.feed(body.bytes, line_events_);
    for (auto& line : line_events_) keep(std::move(line));
  }
  // An answer that is no stream is one message, whatever the route promised.
  if (pieces_.empty() && !said_done_ && body_.size() < largest_other) body_ += body.bytes;
}

bool Generation::is_too_long() const {
  return sse_.too_long() || lines_.too_long() || piece_bytes_ > largest_stream ||
         pieces_.size() >= most_pieces;
}

void Generation::give_up(trace::OutcomeKind kind, std::string reason) {
  fail(kind, std::move(reason));
}

/// A hostile stream may be wrong in every one of a million events.
void Generation::note(std::string oddity) {
  auto& oddities = answered_.answer.oddities;
  if (oddities.size() < most_oddities) oddities.push_back(std::move(oddity));
}

void Generation::fail(trace::OutcomeKind kind, std::string reason) {
  if (finished_.outcome.kind != trace::OutcomeKind::done) return;
  finished_.outcome.kind = kind;
  finished_.outcome.reason = std::move(reason);
}

void Generation::end(const net::End& end) {
  switch (stage_) {
    case Stage::apply_template:
      if (end.kind != net::EndKind::complete) fail(kind_of(end.kind), end.reason);
      end_template();
      break;
    case Stage::counters_before:
    case Stage::counters_after: {
      auto& reading = stage_ == Stage::counters_before ? before_ : after_;
      if (end.kind == net::EndKind::complete && status_ == ok)
        if (auto counters = dialect_.read_counters(body_)) reading = std::move(*counters);
      stage_ = stage_ == Stage::counters_before ? Stage::generate : Stage::done;
      if (stage_ == Stage::done) read_counters();
      break;
    }
    default:
      end_stream(end);
  }
  if (cancelled_ && stage_ != Stage::done) {
    fail(trace::OutcomeKind::cancelled, "stopped by the user");
    stage_ = Stage::done;
  }
}

void Generation::end_template() {
  auto text = dialect_.read_template({status_, {}, body_});
  if (finished_.outcome.kind == trace::OutcomeKind::done && !text)
    fail(trace::OutcomeKind::refused, text.error().message);
  if (finished_.outcome.kind != trace::OutcomeKind::done) {
    stage_ = Stage::done;
    return;
  }
  job_.prompt = std::move(*text);
  job_.messages.clear();
  stage_ = with_counters_ ? Stage::counters_before : Stage::generate;
}

void Generation::end_stream(const net::End& end) {
  answered_.answer.timeline.ended_ns = trace::nanoseconds(std::chrono::steady_clock::now());
  read_pieces();
  const bool whole = end.kind == net::EndKind::complete || (said_done_ && !cancelled_);
  if (cancelled_)
    fail(trace::OutcomeKind::cancelled, "stopped by the user");
  else if (!whole)
    fail(kind_of(end.kind), fmt::format("{}, after {} events", end.reason, pieces_.size()));
  else if (status_ != ok)
    fail(status_ < 500 ? trace::OutcomeKind::refused : trace::OutcomeKind::failed,
         fmt::format("the server answered {}: {}", status_,
                     location_.empty() ? excerpt(body_) : "it is at " + excerpt(location_)));
  else if (truncated_)
    // Case C253: what was measured is another prompt, or a context that was shifted.
    fail(trace::OutcomeKind::refused,
         "the server cut the prompt or the answer to fit its context: give each of its slots more "
         "context (-c is shared by all of them), or shorten the prompt or -n");
  else if (!encoding_.empty() && encoding_ != "identity")
    fail(trace::OutcomeKind::refused,
         fmt::format("the answer is encoded ({}), which was not asked for", excerpt(encoding_)));
  else if (finished_.stop == trace::StopReason::none)
    fail(trace::OutcomeKind::failed,
         fmt::format("the stream ended without saying why, after {} events{}", pieces_.size(),
                     answered_.answer.oddities.empty()
                         ? ""
                         : "; first of all, " + answered_.answer.oddities.front()));
  const bool is_done = finished_.outcome.kind == trace::OutcomeKind::done;
  stage_ = with_counters_ && is_done ? Stage::counters_after : Stage::done;
}

void Generation::read_pieces() {
  if (const std::string rest = lines_.finish(); !rest.empty())
    pieces_.push_back({std::chrono::steady_clock::now(), rest});
  if (sse_.finish()) note("the stream ended inside an event, which was dropped");
  const bool streamed = content_type_.find("event-stream") != std::string::npos ||
                        content_type_.find("ndjson") != std::string::npos;
  if (status_ == ok && !streamed)
    note(fmt::format("the stream has the content type \"{}\"", excerpt(content_type_)));
  if (status_ == ok && pieces_.empty() && !body_.empty())
    pieces_.push_back({std::chrono::steady_clock::now(), std::move(body_)});
  for (const Piece& piece : pieces_) {
    if (util::interrupted()) {  // a long answer takes long to read
      cancelled_ = true;
      break;
    }
    read_message(piece);
  }
  if (prompt_batches_ > 0) answered_.answer.prompt_batches = prompt_batches_;
}

void Generation::read_message(const Piece& piece) {
  auto message = dialect_.read(piece.text);
  if (!message) return note("an event was no message: " + excerpt(message.error().message));
  for (auto& oddity : message->oddities) note(std::move(oddity));
  if (message->error)
    fail(trace::OutcomeKind::failed, "the server said: " + excerpt(*message->error));
  if (message->prompt_batch) ++prompt_batches_;
  for (auto& said : message->said) {
    const auto [place, is_new] =
        said_at_.try_emplace({said.quantity, said.field}, answered_.answer.said.size());
    if (is_new)
      answered_.answer.said.push_back(std::move(said));
    else
      answered_.answer.said[place->second] = std::move(said);
  }
  if (message->sampling) {
    std::vector<std::string> unheeded;
    dialect::name_origins(job_.sampling, *message->sampling, unheeded);
    for (auto& oddity : unheeded) note(std::move(oddity));
    answered_.answer.sampling = std::move(message->sampling);
  }
  if (message->stop) finished_.stop = *message->stop;
  truncated_ |= message->truncated;
  finished_.text += message->reasoning + message->content;
  message->chunk.arrived_ns = trace::nanoseconds(piece.at);
  // An end token has no text and may show in the total alone.
  const long total = message->chunk.output_tokens.value_or(0);
  const bool may_be_silent = message->chunk.decode_ms || finished_.stop == trace::StopReason::eos;
  const bool grew = may_be_silent && total > output_tokens_;
  output_tokens_ = std::max(output_tokens_, total);
  if (message->has_tokens || grew) answered_.chunks.push_back(std::move(message->chunk));
}

void Generation::read_counters() {
  auto& answer = answered_.answer;
  if (!alone_ || finished_.outcome.kind != trace::OutcomeKind::done) return;
  if (!before_ || !after_) {
    note("its counters could not be read around the request");
    return;
  }
  std::optional<long> tokens;
  for (const auto& said : answer.said)
    if (said.quantity == trace::Quantity::output_tokens) tokens = static_cast<long>(said.value);
  auto moved = dialect_.moved(*before_, *after_, tokens);
  for (auto& oddity : moved.oddities) note(std::move(oddity));
  answer.said.insert(answer.said.end(), moved.said.begin(), moved.said.end());
}

trace::Answered Generation::answered() { return std::move(answered_); }
trace::Finished Generation::finished() { return std::move(finished_); }

}  // namespace paceline::engine::server
