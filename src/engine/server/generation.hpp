#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dialect/dialect.hpp"
#include "net/client.hpp"
#include "net/sse.hpp"
#include "protocol/job.hpp"
#include "trace/event.hpp"

namespace paceline::engine::server {

/// What one generation is doing now. Each stage is one exchange with the server.
enum class Stage {
  apply_template,   ///< messages become the prompt's text
  counters_before,  ///< the server's counters, while it is idle
  generate,         ///< the stream
  counters_after,
  done,
};

/// One request in progress: what has arrived, and nothing read of it before it ended, so that
/// reading costs the server no time on a machine that both share.
class Generation {
 public:
  Generation(const dialect::Dialect& dialect, protocol::Generate job, std::string model,
             bool with_counters);

  Stage stage() const { return stage_; }
  const protocol::Generate& job() const { return job_; }

  /// The request of the stage; the clock of the answer starts with the one that generates.
  net::Request request() const;
  void sent(net::TimePoint at);
  /// In place of the time of sending, what latency counts from.
  void due_at(net::TimePoint at) { due_ = at; }

  /// Takes in what arrived of the stage's exchange; after its End the stage has moved on.
  void take(const net::Arrival& arrival);

  /// The stream said that it is complete; servers need not close it then.
  bool said_done() const { return said_done_; }

  /// Other jobs ran beside it: counters say nothing of it then.
  void not_alone() { alone_ = false; }
  void cancel() { cancelled_ = true; }

  /// The exchange is to be ended now, for a reason of our own; it ends as that.
  void give_up(trace::OutcomeKind kind, std::string reason);
  /// It has grown past all that can be kept.
  bool is_too_long() const;
  /// When it last said something; a comment or a header is nothing.
  net::TimePoint heard() const { return heard_; }

  /// What happened, once the stage is done.
  trace::Answered answered();
  trace::Finished finished();

 private:
  struct Piece {
    net::TimePoint at;
    std::string text;
  };

  void take_stream(const net::Arrival& arrival, const net::Body& body);
  void end(const net::End& end);
  void end_template();
  void end_stream(const net::End& end);
  void read_pieces();
  void read_message(const Piece& piece);
  void read_counters();
  void fail(trace::OutcomeKind kind, std::string reason);
  void note(std::string oddity);

  const dialect::Dialect& dialect_;
  protocol::Generate job_;
  std::string model_;
  bool with_counters_;
  std::optional<net::TimePoint> due_;
  bool alone_ = true;
  bool cancelled_ = false;
  net::TimePoint heard_;
  Stage stage_;

  int status_ = 0;
  std::string content_type_;
  std::string encoding_;  ///< of the body; empty: as it is
  std::string location_;  ///< where the server would send us
  std::string body_;      ///< of an answer that is no stream
  net::SseParser sse_;
  net::LineParser lines_;
  std::vector<net::SseEvent> sse_events_;
  std::vector<std::string> line_events_;
  std::vector<Piece> pieces_;
  std::size_t piece_bytes_ = 0;
  bool said_done_ = false;
  bool truncated_ = false;
  std::optional<dialect::Counters> before_;
  std::optional<dialect::Counters> after_;

  trace::Answered answered_;
  trace::Finished finished_;
  int prompt_batches_ = 0;
  long output_tokens_ = 0;  ///< running total so far
  std::map<std::pair<trace::Quantity, std::string>, std::size_t> said_at_;
};

}  // namespace paceline::engine::server
