#include "support/socket_server.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace paceline::support {

namespace {

void must(bool done) {
  if (!done) std::abort();
}

SSL_CTX* context_of(const Certificate& identity) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  BIO* certificate_text = BIO_new_mem_buf(identity.certificate.c_str(), -1);
  X509* certificate = PEM_read_bio_X509(certificate_text, nullptr, nullptr, nullptr);
  BIO* key_text = BIO_new_mem_buf(identity.key.c_str(), -1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
  must(SSL_CTX_use_certificate(context, certificate) == 1 &&
       SSL_CTX_use_PrivateKey(context, key) == 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  BIO_free(certificate_text);
  BIO_free(key_text);
  return context;
}

std::size_t body_length(std::string_view head) {
  constexpr std::string_view name = "Content-Length: ";
  const std::size_t at = head.find(name);
  return at == std::string_view::npos
             ? 0
             : std::strtoul(std::string(head.substr(at + name.size(), 20)).c_str(), nullptr, 10);
}

}  // namespace

struct Peer::State {
  int descriptor = -1;
  SSL* tls = nullptr;
  std::string received;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { end(); }

  bool receive() {
    if (descriptor < 0) return false;
    std::array<char, 4096> space{};
    const auto got = tls != nullptr
                         ? SSL_read(tls, space.data(), static_cast<int>(space.size()))
                         : static_cast<int>(::recv(descriptor, space.data(), space.size(), 0));
    if (got <= 0) return false;
    received.append(space.data(), static_cast<std::size_t>(got));
    return true;
  }

  void end() {
    if (tls != nullptr) SSL_free(std::exchange(tls, nullptr));
    if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
  }
};

Peer::Peer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Peer::~Peer() {
  if (state_) close();
}
Peer::Peer(Peer&&) noexcept = default;
Peer& Peer::operator=(Peer&&) noexcept = default;

std::string Peer::read_request() {
  std::string& received = state_->received;
  std::size_t end = std::string::npos;
  while ((end = received.find("\r\n\r\n")) == std::string::npos)
    if (!state_->receive()) return {};
  const std::size_t whole = end + 4 + body_length(received.substr(0, end));
  while (received.size() < whole)
    if (!state_->receive()) return {};
  std::string request = received.substr(0, whole);
  received.erase(0, whole);
  return request;
}

void Peer::send(std::string_view bytes) {
  while (!bytes.empty() && state_->descriptor >= 0) {
    const auto sent = state_->tls != nullptr
                          ? SSL_write(state_->tls, bytes.data(), static_cast<int>(bytes.size()))
                          : static_cast<int>(::send(state_->descriptor, bytes.data(), bytes.size(),
                                                    MSG_NOSIGNAL));
    if (sent <= 0) return state_->end();
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Peer::close() {
  if (state_->tls != nullptr) SSL_shutdown(state_->tls);
  state_->end();
}

void Peer::close_rudely() { state_->end(); }

void Peer::reset() {
  const linger at_once{1, 0};
  if (state_->descriptor >= 0)
    ::setsockopt(state_->descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  state_->end();
}

void Peer::wait_for_close() {
  while (state_->receive()) state_->received.clear();
}

Peer SocketServer::Listener::accept() {
  auto state = std::make_unique<Peer::State>();
  state->descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  const int on = 1;
  ::setsockopt(state->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A test that went wrong ends, if late, instead of hanging.
  const timeval patience{30, 0};
  ::setsockopt(state->descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (identity_ && state->descriptor >= 0) {
    SSL_CTX* context = context_of(*identity_);
    state->tls = SSL_new(context);
    SSL_CTX_free(context);
    SSL_set_fd(state->tls, state->descriptor);
    if (SSL_accept(state->tls) != 1) state->end();
  }
  return Peer(std::move(state));
}

SocketServer::SocketServer(Script script, std::optional<Certificate> identity)
    : identity_(std::move(identity)) {
  std::signal(SIGPIPE, SIG_IGN);  // of SSL_write to a client that is gone
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  must(::bind(descriptor_, plain, size) == 0 && ::listen(descriptor_, 4096) == 0 &&
       ::getsockname(descriptor_, plain, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this, script = std::move(script)] {
    Listener listener(descriptor_, identity_);
    script(listener);
  });
}

void SocketServer::finish() {
  ::shutdown(descriptor_, SHUT_RDWR);  // wakes an accept()
  if (thread_.joinable()) thread_.join();
}

SocketServer::~SocketServer() {
  finish();
  ::close(descriptor_);
}

}  // namespace paceline::support
