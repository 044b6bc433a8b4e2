#include "net/pool.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <cstring>

#include "net/tls.hpp"

namespace paceline::net {

namespace {

std::string origin(const Url& server) {
  return fmt::format("{}:{}:{}", server.secure ? "https" : "http", server.port, server.host);
}

util::Result<Pool::Endpoints> look_up(const Url& server) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  // AI_ADDRCONFIG does not count loopback, so that a machine without a network lacks localhost.
  const std::string port = std::to_string(server.port);
  int problem = ::getaddrinfo(server.host.c_str(), port.c_str(), &wanted, &found);
  if (problem != 0) {
    wanted.ai_flags = AI_NUMERICSERV;
    problem = ::getaddrinfo(server.host.c_str(), port.c_str(), &wanted, &found);
  }
  if (problem != 0)
    return util::fail(
        util::ErrorKind::engine,
        fmt::format("The host {} is not known: {}", server.host,
                    problem == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(problem)));
  Pool::Endpoints endpoints;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    tcp::endpoint endpoint;
    if (each->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
    endpoint.resize(each->ai_addrlen);
    endpoints.push_back(endpoint);
  }
  ::freeaddrinfo(found);
  return endpoints;
}

}  // namespace

Pool::Pool(asio::io_context& context, const ClientOptions& options)
    : context_(context), options_(options) {}

Pool::Shared Pool::take(const Url& server) {
  auto& idle = idle_[origin(server)];
  while (!idle.empty()) {
    Shared last = std::move(idle.back());
    idle.pop_back();
    if (last->looks_open()) return last;
  }
  return nullptr;
}

void Pool::give(const Url& server, Shared connection) {
  idle_[origin(server)].push_back(std::move(connection));
}

util::Result<Pool::Shared> Pool::make(const Url& server) {
  if (!server.secure) return std::make_shared<Connection>(context_, nullptr);
  if (!tls_) {
    PACELINE_TRY_ASSIGN(auto context, tls_context(options_.ca_file, options_.insecure));
    tls_.emplace(std::move(context));
  }
  auto connection = std::make_shared<Connection>(context_, &*tls_);
  PACELINE_TRY(expect_host(*connection->secure(), server.host));
  return connection;
}

util::Result<Pool::Endpoints> Pool::endpoints(const Url& server) {
  const std::string key = origin(server);
  if (const auto known = endpoints_.find(key); known != endpoints_.end()) return known->second;
  PACELINE_TRY_ASSIGN(auto found, look_up(server));
  return endpoints_[key] = std::move(found);
}

void Pool::forget(const Url& server) { endpoints_.erase(origin(server)); }

}  // namespace paceline::net
