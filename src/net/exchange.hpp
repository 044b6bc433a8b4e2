#pragma once

#include <memory>
#include <string>

#include "net/answer_parser.hpp"
#include "net/client.hpp"
#include "net/connection.hpp"

namespace paceline::net {

/// What an exchange waits for; each has its time limit.
enum class Phase { connecting, first_byte, body };

/// One request on its way and what came of it so far.
struct Exchange {
  Exchange(ExchangeId its_id, Url its_server, std::string its_text, AnswerParser its_answer,
           asio::io_context& context)
      : id(its_id),
        server(std::move(its_server)),
        text(std::move(its_text)),
        answer(std::move(its_answer)),
        alarm(context) {}

  ExchangeId id;
  Url server;
  std::string text;  ///< the request; kept, since it may have to be sent twice
  AnswerParser answer;
  std::shared_ptr<Connection> connection;
  Phase phase = Phase::connecting;
  bool reused = false;   ///< on a connection that served another exchange
  bool written = false;  ///< all of the request
  bool ended = false;

  /// The time-out moves with every read, the alarm only when it rings: moving it is what costs.
  TimePoint deadline;
  asio::steady_timer alarm;
  TimePoint alarm_at = TimePoint::max();
};

}  // namespace paceline::net
