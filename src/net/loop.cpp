#include "net/loop.hpp"

#include <time.h>

#include "util/interrupt.hpp"

namespace paceline::net {

namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

constexpr auto lag_period = std::chrono::milliseconds(5);
// Handlers run by a call that may not wait: more could become ready for ever.
constexpr int most_at_once = 64;

double thread_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

// One thread: Asio's locks are left out.
Client::Loop::Loop(ClientOptions options)
    : options_(std::move(options)),
      context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE),
      pool_(context_, options_),
      wake_(context_),
      interrupt_(context_),
      lag_timer_(context_),
      made_(steady_clock::now()),
      cpu_before_s_(thread_cpu_s()) {}

Client::Loop::~Loop() {
  // The descriptor belongs to util::interrupt.
  if (interrupt_.is_open()) interrupt_.release();
}

std::optional<Arrival> Client::Loop::next(TimePoint until) {
  if (arrivals_.empty()) run_until(until);
  if (arrivals_.empty()) return std::nullopt;
  Arrival first = std::move(arrivals_.front());
  arrivals_.pop_front();
  ++arrived_;
  return first;
}

// Once interrupted, what is ready still comes, so that ends are told; nothing is waited for.
void Client::Loop::run_until(TimePoint until) {
  watch_interrupts();
  context_.restart();
  for (bool more = true; more && arrivals_.empty();) {
    if (interrupted_ || steady_clock::now() >= until) {
      for (int ready = 0; ready < most_at_once && context_.poll_one() > 0; ++ready) {
      }
      return;
    }
    wake_at(until);
    more = context_.run_one() > 0;
  }
}

// Callers wait in steps as well as to a scheduled moment, so a timer that is early enough is left.
void Client::Loop::wake_at(TimePoint until) {
  if (until >= wake_time_) return;
  wake_time_ = until;
  wake_.expires_at(until);
  wake_.async_wait([this](const ErrorCode& error) {
    if (!error) wake_time_ = TimePoint::max();
  });
}

void Client::Loop::watch_interrupts() {
  if (interrupt_.is_open() || util::interrupt_descriptor() < 0) return;
  interrupt_.assign(util::interrupt_descriptor());
  interrupt_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [this](const ErrorCode& error) { interrupted_ |= !error; });
}

void Client::Loop::watch_lag() {
  if (lag_watched_) return;
  lag_watched_ = true;
  const auto due = steady_clock::now() + lag_period;
  lag_timer_.expires_at(due);
  lag_timer_.async_wait([this, due](const ErrorCode& error) {
    lag_watched_ = false;
    if (error || active_.empty()) return;
    lag_.add(duration<double>(steady_clock::now() - due).count());
    watch_lag();
  });
}

ClientLoad Client::Loop::load() const {
  ClientLoad load;
  load.cpu_s = thread_cpu_s() - cpu_before_s_;
  load.wall_s = duration<double>(steady_clock::now() - made_).count();
  load.arrivals = arrived_;
  load.lag_p50_s = lag_.percentile(0.5);
  load.lag_p99_s = lag_.percentile(0.99);
  load.lag_max_s = lag_.largest();
  return load;
}

void Client::Loop::give_back(std::deque<Arrival> others, ExchangeId id) {
  for (auto& arrival : arrivals_)
    if (arrival.exchange != id) others.push_back(std::move(arrival));
  arrivals_ = std::move(others);
}

}  // namespace paceline::net
