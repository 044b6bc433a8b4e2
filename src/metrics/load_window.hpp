#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/load.hpp"

namespace paceline::metrics {

/// Output that reached us at one moment of our clock.
struct Arrived {
  trace::Nanoseconds at_ns = 0;
  double tokens = 0;
};

/// When the tokens of a request arrived, in order.
struct Stream {
  std::vector<Arrived> arrivals;
  /// The server did not say how many tokens each event holds: the request's total is shared out by
  /// the bytes of its events.
  bool is_shared_out = false;
};

/// Nothing when text arrived and nobody said how many tokens it is.
std::optional<Stream> stream_of(const trace::Request& request);

/// Part of a cell in which its load is the one that was asked for. A closed loop: from the moment
/// that as many requests are decoding as are kept in flight, until fewer of them remain. An open
/// loop: the middle three fifths of its requests, by when they were due.
struct Window {
  trace::Nanoseconds began_ns = 0;
  trace::Nanoseconds ended_ns = 0;
  double tokens = 0;  ///< that arrived after its beginning, up to its end
  bool is_shared_out = false;

  double seconds() const;
  double tokens_per_s() const { return tokens / seconds(); }
};

/// The window of a cell with all requests sent, or the reason why it has none.
struct FoundWindow {
  std::optional<Window> window;
  std::string reason;
};
FoundWindow steady_window(const trace::LoadCell& cell);

}  // namespace paceline::metrics
