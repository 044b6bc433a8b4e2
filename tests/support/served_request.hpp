#pragma once

#include <vector>

#include "trace/load.hpp"

// Requests as a server streamed them, written by hand in whole seconds of our clock.
namespace paceline::tests {

inline constexpr trace::Nanoseconds second_ns = 1'000'000'000;

/// One event: when it arrived and the running total of output tokens in it.
struct Event {
  int at_s = 0;
  long total = 0;
};

/// A request that was done at its length limit; the server's clock is ours, one pass an event.
inline trace::Request served(int due_s, const std::vector<Event>& events) {
  trace::Request request;
  request.stop = trace::StopReason::limit;
  request.answer.emplace();
  request.answer->endpoint = "/completion";
  request.answer->timeline.scheduled_ns = request.answer->timeline.sent_ns = due_s * second_ns;
  request.answer->timeline.ended_ns =
      events.empty() ? due_s * second_ns : events.back().at_s * second_ns;
  request.answer->prompt_batches = 1;
  for (const auto& [at_s, total] : events) {
    trace::Chunk chunk;
    chunk.arrived_ns = at_s * second_ns;
    chunk.content_bytes = 1;
    chunk.output_tokens = total;
    chunk.decode_ms = 1000.0 * (at_s - events.front().at_s);
    request.chunks.push_back(chunk);
  }
  return request;
}

/// One token a second from `from_s` on.
inline trace::Request one_a_second(int due_s, int from_s, int tokens) {
  std::vector<Event> events;
  for (int i = 0; i < tokens; ++i) events.push_back({from_s + i, i + 1});
  return served(due_s, events);
}

inline trace::LoadCell closed_cell(int level, std::vector<trace::Request> requests) {
  trace::LoadCell cell;
  cell.level = level;
  cell.planned = static_cast<int>(requests.size());
  cell.requests = std::move(requests);
  return cell;
}

/// Two at once, four in all: A 1-4 s, B 2-5 s, C 5-8 s in A's place, D 6-9 s in B's.
inline trace::LoadCell two_at_once() {
  auto cell = closed_cell(2, {one_a_second(0, 1, 4), one_a_second(0, 2, 4), one_a_second(4, 5, 4),
                              one_a_second(5, 6, 4)});
  cell.ended_ns = 9 * second_ns;
  return cell;
}

}  // namespace paceline::tests
