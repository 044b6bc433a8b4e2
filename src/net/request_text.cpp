#include "net/request_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "util/printable.hpp"

namespace paceline::net {

namespace {

tl::unexpected<util::Error> refuse(std::string message) {
  return util::fail(util::ErrorKind::usage, std::move(message));
}

/// A token of RFC 9110 5.6.2: what a method and the name of a header are made of.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7F');
  });
}

bool is_target(std::string_view text) {
  return text.starts_with('/') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

bool is_ours(std::string_view name) {
  const auto names = {"Host", "Content-Length", "Connection", "Transfer-Encoding"};
  return std::any_of(names.begin(), names.end(), [&](auto ours) { return same_name(name, ours); });
}

util::Result<void> check(const Request& request) {
  if (!is_token(request.method))
    return refuse(fmt::format("\"{}\" is no method of HTTP.", util::printable(request.method)));
  if (!is_target(request.target))
    return refuse(
        fmt::format("\"{}\" is no path on a server: it has to begin with a slash and to "
                    "hold no spaces.",
                    util::printable(request.target)));
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name) || is_ours(name))
      return refuse(fmt::format("A header cannot be named \"{}\" here.", util::printable(name)));
    if (!is_value(value))
      return refuse(
          fmt::format("The value of the header {} holds a line break or another control "
                      "character: remove it, often at the end of a file with a key.",
                      name));
  }
  return {};
}

/// With the port only where it is not the scheme's own: some servers compare the text.
std::string host_value(const Url& server) {
  const bool brackets = server.host.find(':') != std::string::npos;
  std::string host = brackets ? fmt::format("[{}]", server.host) : server.host;
  if (server.port != (server.secure ? 443 : 80)) host += fmt::format(":{}", server.port);
  return host;
}

}  // namespace

util::Result<std::string> request_text(const Url& server, const Request& request) {
  PACELINE_TRY(check(request));
  std::string text = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nConnection: keep-alive\r\n",
                                 request.method, server.prefix, request.target, host_value(server));
  if (!request.body.empty() || request.method != "GET")
    text += fmt::format("Content-Length: {}\r\n", request.body.size());
  if (!header(request.headers, "User-Agent"))
    text += "User-Agent: paceline/" PACELINE_VERSION "\r\n";
  // Compression would hold events back until a block is full, and hide when they were sent.
  if (!header(request.headers, "Accept-Encoding")) text += "Accept-Encoding: identity\r\n";
  for (const auto& [name, value] : request.headers) {
    text += name;
    text += ": ";
    text += value;
    text += "\r\n";
  }
  text += "\r\n";
  text += request.body;
  return text;
}

}  // namespace paceline::net
