// What a program written with libcurl would do: one multi handle, told by epoll which sockets are
// ready (curl's multi_socket interface, its fastest).

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "client_load.hpp"
#include "net/sse.hpp"

namespace paceline::bench {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// One transfer and what it is parsed with.
struct Stream {
  CURL* easy = nullptr;
  Tally* tally = nullptr;
  net::SseParser parser;
  bool answered = false;
};

std::size_t on_header(char* data, std::size_t one, std::size_t size, void* self) {
  auto* stream = static_cast<Stream*>(self);
  // The empty line ends the head.
  if (size == 2 && data[0] == '\r' && !std::exchange(stream->answered, true))
    stream->tally->answered();
  return one * size;
}

std::size_t on_body(char* data, std::size_t one, std::size_t size, void* self) {
  const auto at = steady_clock::now();
  auto* stream = static_cast<Stream*>(self);
  std::vector<net::SseEvent> events;
  stream->parser.feed({data, size}, events);
  for (const auto& event : events) stream->tally->event(event.data, at);
  return one * size;
}

class Multi {
 public:
  explicit Multi(Tally& tally)
      : tally_(tally), multi_(curl_multi_init()), epoll_(::epoll_create1(0)) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Multi::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Multi::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  }
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;
  ~Multi() {
    for (const auto& stream : streams_) {
      curl_multi_remove_handle(multi_, stream->easy);
      curl_easy_cleanup(stream->easy);
    }
    curl_multi_cleanup(multi_);
    ::close(epoll_);
  }

  void add(const std::string& url) {
    streams_.push_back(std::make_unique<Stream>());
    Stream& stream = *streams_.back();
    stream.tally = &tally_;
    stream.easy = curl_easy_init();
    curl_easy_setopt(stream.easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(stream.easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(stream.easy, CURLOPT_POSTFIELDS, "{}");
    curl_easy_setopt(stream.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(stream.easy, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(stream.easy, CURLOPT_HEADERDATA, &stream);
    curl_easy_setopt(stream.easy, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(stream.easy, CURLOPT_WRITEDATA, &stream);
    curl_multi_add_handle(multi_, stream.easy);
  }

  void run(steady_clock::time_point until) {
    while (!tally_.done() && steady_clock::now() < until) {
      std::array<epoll_event, 256> ready{};
      const int count =
          ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), wait_ms());
      int running = 0;
      for (int i = 0; i < count; ++i) {
        const auto& event = ready[static_cast<std::size_t>(i)];
        const int flags = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                          ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0);
        curl_multi_socket_action(multi_, event.data.fd, flags, &running);
      }
      if (timer_ && steady_clock::now() >= *timer_) {
        timer_.reset();
        curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
      }
      if (count > 0) count_ended();
    }
  }

 private:
  int wait_ms() const {
    constexpr auto longest = milliseconds(100);
    if (!timer_) return static_cast<int>(longest.count());
    const auto left = std::chrono::ceil<milliseconds>(*timer_ - steady_clock::now());
    return static_cast<int>(std::clamp(left, milliseconds(0), longest).count());
  }

  void count_ended() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left))
      if (message->msg == CURLMSG_DONE) tally_.ended();
  }

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void* known) {
    auto* multi = static_cast<Multi*>(self);
    epoll_event event{};
    event.data.fd = socket;
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
    if (what == CURL_POLL_REMOVE) {
      ::epoll_ctl(multi->epoll_, EPOLL_CTL_DEL, socket, nullptr);
    } else {
      ::epoll_ctl(multi->epoll_, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
      curl_multi_assign(multi->multi_, socket, self);
    }
    return 0;
  }

  static int on_timer(CURLM*, long timeout_ms, void* self) {
    auto* multi = static_cast<Multi*>(self);
    if (timeout_ms < 0)
      multi->timer_.reset();
    else
      multi->timer_ = steady_clock::now() + milliseconds(timeout_ms);
    return 0;
  }

  Tally& tally_;
  CURLM* multi_;
  int epoll_;
  std::optional<steady_clock::time_point> timer_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace

util::Result<Seen> run_curl(std::uint16_t port, const Load& load) {
  Tally tally(load);
  Multi multi(tally);
  const std::string url = fmt::format("http://127.0.0.1:{}/v1/completions", port);
  for (int i = 0; i < load.streams; ++i) multi.add(url);
  multi.run(steady_clock::now() + std::chrono::seconds(load.seconds + 60));
  return tally.seen();
}

}  // namespace paceline::bench
