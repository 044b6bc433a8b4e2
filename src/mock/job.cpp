#include "mock/job.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>

namespace paceline::mock {

namespace {

/// Milliseconds in whole microseconds, as llama-server's clock has them.
double in_microseconds(double ms) { return std::round(ms * 1e3) / 1e3; }

std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// After how many tokens a fault of mid stream strikes; nothing when none does.
std::optional<std::size_t> mark_of(const Struck& struck, std::size_t tokens) {
  const double half = static_cast<double>((tokens + 1) / 2);
  std::optional<double> at;
  if (struck.by(FaultKind::stall)) at = half;
  for (const FaultKind kind :
       {FaultKind::cut, FaultKind::error_in_stream, FaultKind::malformed_json, FaultKind::crash})
    if (const auto value = struck.value(kind, half)) at = value;
  if (!at) return std::nullopt;
  return static_cast<std::size_t>(*at);
}

void add_up_to(std::vector<long>& at, int count) {
  at.resize(std::max(at.size(), static_cast<std::size_t>(count)));
  for (int i = 0; i < count; ++i) ++at[static_cast<std::size_t>(i)];
}

}  // namespace

Mock::Job::Job(World world, Stream stream, Struck struck, std::shared_ptr<net::Reply> reply)
    : world_(std::move(world)),
      stream_(std::move(stream)),
      struck_(std::move(struck)),
      reply_(std::move(reply)),
      mark_(mark_of(struck_, stream_.plan.tokens.size())) {}

void Mock::Job::watch() {
  reply_->on_gone([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->break_off();
  });
}

void Mock::Job::enter(int slot) {
  has_slot_ = true;
  stream_.slot = slot;
  due_ = entered_ = Clock::now();
  if (!stream_.asked.stream) return;
  const bool lines = world_.renderer.framing(stream_.asked) == Framing::lines;
  std::string type = lines ? "application/x-ndjson" : "text/event-stream";
  if (struck_.by(FaultKind::wrong_content_type)) type = "text/html";
  reply_->begin(200, {{"Content-Type", type}});
  write(world_.renderer.begin(world_.state, stream_));
  write(world_.renderer.prompt_batch(world_.state, stream_));
}

double Mock::Job::next_seconds() const {
  if (batches_ >= stream_.plan.prompt_batches) return world_.truth.seconds_per_pass;
  const int left = stream_.plan.prompt_processed - batches_ * world_.truth.prompt_batch;
  return std::min(left, world_.truth.prompt_batch) * world_.truth.seconds_per_prompt_token;
}

void Mock::Job::schedule() {
  const auto next = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->advance();
  };
  const double seconds = next_seconds();
  if (seconds <= 0) return reply_->when_drained(next);
  due_ += duration_of(seconds);
  timer_ = world_.server.at(due_, next);
}

void Mock::Job::later(double seconds, std::function<void()> then) {
  timer_ = world_.server.at(Clock::now() + duration_of(seconds), std::move(then));
}

void Mock::Job::advance() {
  if (!works()) return;
  const auto self = shared_from_this();
  if (!world_.truth.shared_forwards) world_.hooks.forward();
  if (batches_ < stream_.plan.prompt_batches)
    prompt_forward();
  else
    decode_forward();
  say();
}

void Mock::Job::prompt_forward() {
  ++batches_;
  const Truth& truth = world_.truth;
  const Plan& plan = stream_.plan;
  const int processed = std::min(batches_ * truth.prompt_batch, plan.prompt_processed);
  const bool planned = truth.seconds_per_prompt_token > 0 && !truth.shared_forwards;
  stream_.prompt_ms = in_microseconds(planned ? processed * truth.seconds_per_prompt_token * 1e3
                                              : ms_since(entered_));
  stream_.prompt_done = processed;
  if (stream_.asked.stream) write(world_.renderer.prompt_batch(world_.state, stream_));
  if (batches_ < plan.prompt_batches) return;
  first_token_ = Clock::now();
  made_ = 1;
  state_times();
  uncounted_.prompt_tokens = plan.prompt_processed;
  uncounted_.prompt_cached = plan.prompt_cached;
  uncounted_.prompt_s = stream_.prompt_ms / 1e3;
  if (world_.renderer.counts_when() != CountsWhen::at_natural_end) flush();
  uncounted_.output = 1;
}

void Mock::Job::decode_forward() {
  ++forwards_;
  const Pass& pass = stream_.plan.passes[stream_.passes];
  if (replays_ < pass.replays) {
    ++replays_;
    return;
  }
  replays_ = 0;
  ++stream_.passes;
  state_times();
  made_ += static_cast<std::size_t>(pass.emitted);
  uncounted_.output += pass.emitted;
  if (pass.offered > 0) {
    ++stream_.rounds;
    ++uncounted_.rounds;
    stream_.offered += pass.offered;
    accepted_ += pass.accepted;
    uncounted_.offered += pass.offered;
    uncounted_.accepted += pass.accepted;
    add_up_to(uncounted_.offered_at, pass.offered);
    add_up_to(uncounted_.accepted_at, pass.accepted);
    uncounted_.accepted_at.resize(uncounted_.offered_at.size());
  }
  stream_.accepted = stated_accepted();
  if (world_.renderer.counts_when() == CountsWhen::each_pass) flush();
}

/// The server's clock: by the plan where it paces, measured where it runs as fast as it can. It
/// never stands still between two passes.
void Mock::Job::state_times() {
  const double last = stream_.decode_ms;
  const bool planned = world_.truth.seconds_per_pass > 0 && !world_.truth.shared_forwards;
  const double ms = planned ? static_cast<double>(forwards_) * world_.truth.seconds_per_pass * 1e3
                            : ms_since(first_token_);
  stream_.decode_ms = in_microseconds(std::max(ms, last + 1e-3));
}

long Mock::Job::stated_accepted() const {
  long stated = accepted_;
  if (const auto more = struck_.value(FaultKind::lie_accepted, 1); more && stream_.offered > 0)
    stated = stream_.offered + static_cast<long>(*more);
  if (const auto more = struck_.value(FaultKind::lie_accepted_plus, 1))
    stated += static_cast<long>(*more);
  return stated;
}

/// Up to where the next event goes; stream_.said when it has to wait for more.
std::size_t Mock::Job::next_until() const {
  if (const auto burst = struck_.value(FaultKind::burst, 16)) {
    const bool enough = static_cast<double>(made_ - stream_.said) >= *burst;
    return enough || made_ == stream_.plan.tokens.size() ? made_ : stream_.said;
  }
  return world_.renderer.event_per_token() ? std::min(stream_.said + 1, made_) : made_;
}

/// Says what is made and not said yet, then goes on.
void Mock::Job::say() {
  for (std::size_t until = next_until(); until > stream_.said; until = next_until()) {
    if (mark_ && stream_.said >= *mark_) {
      mark_.reset();
      strike();
      if (!works()) return;
    }
    say_until(until);
  }
  if (stream_.said == stream_.plan.tokens.size()) return finish();
  world_.hooks.proceed(*this);
}

void Mock::Job::say_until(std::size_t until) {
  if (stream_.asked.stream)
    write(world_.renderer.tokens(world_.state, stream_, until));
  else
    stream_.take(until);
}

/// The fault of mid stream.
void Mock::Job::strike() {
  if (struck_.by(FaultKind::crash)) std::raise(SIGKILL);
  if (struck_.by(FaultKind::malformed_json) && stream_.asked.stream)
    write({world_.renderer.framing(stream_.asked) == Framing::lines
               ? std::string("{\"response\":\"brok\n")
               : sse("{\"choices\":[{\"delta\":{\"content\":\"brok")});
  if (struck_.by(FaultKind::stall)) stall();
  if (struck_.by(FaultKind::error_in_stream)) fail_in_stream();
  if (struck_.by(FaultKind::cut)) {
    reply_->cut();
    break_off();
  }
}

void Mock::Job::stall() {
  stalled_ = true;
  if (struck_.bare(FaultKind::stall)) return;
  later(*struck_.value(FaultKind::stall, 0), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->stalled_ = false;
    self->due_ = Clock::now();
    self->say();
  });
}

void Mock::Job::fail_in_stream() {
  const auto error = world_.renderer.error(500, "the mock was told to fail");
  if (!stream_.asked.stream) {
    reply_->answer(json_response(error, 500));
  } else {
    const bool lines = world_.renderer.framing(stream_.asked) == Framing::lines;
    write({lines ? error.dump() + "\n" : sse(error.dump())});
    reply_->end();
  }
  break_off();
}

void Mock::Job::write(const std::vector<std::string>& events) {
  const bool beats =
      struck_.by(FaultKind::heartbeats) && world_.renderer.framing(stream_.asked) == Framing::sse;
  for (const std::string& event : events) {
    if (beats) reply_->write(": keepalive\n\n:\n\nevent: ping\n\n");
    reply_->write(event);
  }
}

void Mock::Job::finish() {
  const Plan& plan = stream_.plan;
  stream_.usage_output =
      plan.output_tokens() + static_cast<long>(struck_.value(FaultKind::lie_count, 1).value_or(0));
  uncounted_.requests = 1;
  uncounted_.decode_s += stream_.decode_ms / 1e3;
  uncounted_.accepted += stream_.accepted - accepted_;
  flush();
  if (const auto late = struck_.value(FaultKind::late_usage, 1)) {
    stalled_ = true;
    return later(*late, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->send_end();
    });
  }
  send_end();
}

void Mock::Job::send_end() {
  const auto self = shared_from_this();
  ended_ = true;
  if (stream_.asked.stream) {
    write(world_.renderer.end(world_.state, stream_));
    reply_->end();
  } else {
    send_whole();
  }
  world_.hooks.leave(*this);
}

void Mock::Job::send_whole() {
  auto response = json_response(world_.renderer.whole(world_.state, stream_));
  if (struck_.by(FaultKind::malformed_json)) response.body.resize(response.body.size() / 2);
  if (struck_.by(FaultKind::wrong_content_type)) response.headers = {{"Content-Type", "text/html"}};
  reply_->answer(std::move(response));
}

/// It ends here, unfinished.
void Mock::Job::break_off() {
  if (std::exchange(ended_, true)) return;
  const auto self = shared_from_this();
  timer_ = nullptr;
  uncounted_.decode_s += stream_.decode_ms / 1e3;
  if (has_slot_ && world_.renderer.counts_when() != CountsWhen::at_natural_end) flush();
  world_.hooks.leave(*this);
}

void Mock::Job::flush() {
  world_.hooks.count(*this);
  uncounted_ = {};
}

}  // namespace paceline::mock
