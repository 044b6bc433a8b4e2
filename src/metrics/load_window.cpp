#include "metrics/load_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace paceline::metrics {

namespace {

using trace::Chunk;
using trace::Nanoseconds;
using trace::Request;

constexpr double seconds_per_ns = 1e-9;
// No event holds more; what a server says past it is a lie that must not become a rate.
constexpr long most_tokens = 1'000'000;

int bytes_of(const Chunk& chunk) { return chunk.content_bytes + chunk.reasoning_bytes; }

bool is_counted(const Chunk& chunk) {
  return chunk.output_tokens || !chunk.tokens.empty() || bytes_of(chunk) == 0;
}

void add(Stream& stream, Nanoseconds at, double tokens) {
  if (tokens > 0) stream.arrivals.push_back({at, tokens});
}

Stream counted_stream(const Request& request) {
  Stream stream;
  long total = 0;
  for (const auto& chunk : request.chunks) {
    long grown = static_cast<long>(chunk.tokens.size());
    if (chunk.output_tokens) {
      grown = *chunk.output_tokens - total;
      total = std::max(total, *chunk.output_tokens);
    }
    if (grown > 0 && grown <= most_tokens)
      add(stream, chunk.arrived_ns, static_cast<double>(grown));
  }
  return stream;
}

/// E, as the normaliser left it in the emissions.
std::size_t output_tokens(const Request& request) {
  std::size_t tokens = 0;
  for (const auto& emission : request.emissions) tokens += emission.tokens.size();
  return tokens;
}

Stream shared_out(const Request& request, double tokens) {
  Stream stream;
  stream.is_shared_out = true;
  double bytes = 0;
  for (const auto& chunk : request.chunks) bytes += bytes_of(chunk);
  for (const auto& chunk : request.chunks)
    add(stream, chunk.arrived_ns, tokens * bytes_of(chunk) / bytes);
  return stream;
}

FoundWindow none(std::string reason) { return {std::nullopt, std::move(reason)}; }

/// First moment at which `level` streams are between their first and their last token.
std::optional<Nanoseconds> first_full(const std::vector<Stream>& streams, int level) {
  std::vector<std::pair<Nanoseconds, int>> steps;  // ends (-1) sort before beginnings of the time
  for (const auto& stream : streams) {
    if (stream.arrivals.empty()) continue;
    steps.emplace_back(stream.arrivals.front().at_ns, 1);
    steps.emplace_back(stream.arrivals.back().at_ns, -1);
  }
  std::sort(steps.begin(), steps.end());
  int decoding = 0;
  for (const auto& [at, change] : steps)
    if ((decoding += change) >= level) return at;
  return std::nullopt;
}

/// When fewer than `level` requests remain: those that ended before are all but level - 1.
Nanoseconds last_full(const trace::LoadCell& cell, const std::vector<Stream>& streams) {
  std::vector<Nanoseconds> ends;
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (!streams[i].arrivals.empty())
      ends.push_back(streams[i].arrivals.back().at_ns);
    else
      ends.push_back(cell.requests[i].answer ? cell.requests[i].answer->timeline.ended_ns
                                             : cell.began_ns);
  std::sort(ends.begin(), ends.end());
  const auto level = static_cast<std::size_t>(std::max(cell.level, 1));
  return ends.size() < level ? cell.began_ns : ends[ends.size() - level];
}

FoundWindow closed_span(const trace::LoadCell& cell, const std::vector<Stream>& streams) {
  const auto began = first_full(streams, std::max(cell.level, 1));
  if (!began)
    return none(fmt::format(
        "never were {} requests decoding at once: the server has fewer slots, or outputs are short",
        cell.level));
  const Nanoseconds ended = last_full(cell, streams);
  if (ended <= *began)
    return none("the first requests ended before all were decoding: outputs are too short");
  return {Window{*began, ended, 0, false}, ""};
}

FoundWindow open_span(const trace::LoadCell& cell) {
  std::vector<Nanoseconds> due;
  for (const auto& request : cell.requests)
    if (request.answer) due.push_back(request.answer->timeline.scheduled_ns);
  std::sort(due.begin(), due.end());
  const std::size_t first = (due.size() + 4) / 5;
  const std::size_t last = due.size() * 4 / 5;
  if (last >= due.size() || first >= last || due[last] <= due[first])
    return none(
        fmt::format("{} requests have no middle part: give more with --requests", due.size()));
  return {Window{due[first], due[last], 0, false}, ""};
}

}  // namespace

double Window::seconds() const { return static_cast<double>(ended_ns - began_ns) * seconds_per_ns; }

std::optional<Stream> stream_of(const Request& request) {
  const auto& chunks = request.chunks;
  if (std::all_of(chunks.begin(), chunks.end(), is_counted)) return counted_stream(request);
  const auto tokens = output_tokens(request);
  if (tokens == 0) return std::nullopt;
  return shared_out(request, static_cast<double>(tokens));
}

FoundWindow steady_window(const trace::LoadCell& cell) {
  if (std::cmp_less(cell.requests.size(), cell.planned))
    return none(
        fmt::format("only {} of {} requests were sent", cell.requests.size(), cell.planned));
  std::vector<Stream> streams;
  for (const auto& request : cell.requests) {
    auto stream = stream_of(request);
    if (!stream) return none("the server does not say how many tokens a request has");
    streams.push_back(std::move(*stream));
  }
  auto found = cell.loop == trace::LoadLoop::closed ? closed_span(cell, streams) : open_span(cell);
  if (!found.window) return found;
  for (const auto& stream : streams) {
    found.window->is_shared_out |= stream.is_shared_out;
    for (const auto& [at, tokens] : stream.arrivals)
      if (at > found.window->began_ns && at <= found.window->ended_ns)
        found.window->tokens += tokens;
  }
  return found;
}

}  // namespace paceline::metrics
