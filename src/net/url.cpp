#include "net/url.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "net/http.hpp"
#include "util/printable.hpp"

namespace paceline::net {

namespace {

constexpr std::size_t longest_url = 2048;
constexpr std::size_t longest_host = 253;  // of a name, RFC 1035 3.1 without the root's dot
constexpr std::string_view example = "http://127.0.0.1:8080";

/// Without its query, which may hold a key.
tl::unexpected<util::Error> refuse(std::string_view text, std::string_view what) {
  text = text.substr(0, text.find('?'));
  return util::fail(util::ErrorKind::usage, fmt::format("The URL \"{}\" {}. Write it as in {}.",
                                                        util::printable(text), what, example));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool in_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_'; }

/// Printable ASCII but for what RFC 3986 keeps out of a path.
bool in_path(char c) {
  return c > ' ' && c < '\x7F' && std::string_view("\"<>\\^`{|}?#").find(c) == std::string::npos;
}

bool is_path(std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!in_path(path[i])) return false;
    if (path[i] == '%' && (i + 2 >= path.size() || !is_hex(path[i + 1]) || !is_hex(path[i + 2])))
      return false;
  }
  return true;
}

bool is_ipv6(std::string_view host) {
  in6_addr ignored{};
  // inet_pton() would stop at a zero, and take what stands before it for all.
  return host.find('\0') == std::string_view::npos &&
         ::inet_pton(AF_INET6, std::string(host).c_str(), &ignored) == 1;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// What stands before "://", taken off `text`; nothing when that is no scheme of ours.
std::optional<bool> take_scheme(std::string_view& text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, end);
  text.remove_prefix(end + 3);
  if (same_name(scheme, "http")) return false;
  if (same_name(scheme, "https")) return true;
  return std::nullopt;
}

/// The host, taken off `authority` so that nothing or ":port" is left; nothing when it is none.
std::optional<std::string> take_host(std::string_view& authority) {
  std::string_view host;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
    if (!is_ipv6(host)) return std::nullopt;
  } else {
    host = authority.substr(0, authority.find(':'));
    authority.remove_prefix(host.size());
    if (host.empty() || host.size() > longest_host ||
        !std::all_of(host.begin(), host.end(), in_name))
      return std::nullopt;
  }
  return lower(host);
}

std::optional<std::uint16_t> read_port(std::string_view digits) {
  std::uint16_t port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, port);
  if (problem != std::errc() || stop != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::string Url::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}{}", secure ? "https" : "http", brackets ? "[" : "", host,
                     brackets ? "]" : "", port, prefix);
}

util::Result<Url> parse_url(std::string_view text) {
  // Wherever it stands: a password with a slash in it would else be taken for a path, and printed.
  if (text.find('@') != std::string_view::npos)
    return util::fail(util::ErrorKind::usage,
                      "The URL holds an \"@\", as if a user name or password stood in it, which "
                      "would be stored with the results. Leave it out, and give a key by its "
                      "option for that.");
  if (text.size() > longest_url)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("The URL is over {} characters long. Write it as in {}.",
                                  longest_url, example));
  Url url;
  std::string_view rest = text;
  const auto secure = take_scheme(rest);
  if (!secure) return refuse(text, "begins with neither http:// nor https://");
  url.secure = *secure;

  std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  std::string_view path = rest.substr(authority.size());
  auto host = take_host(authority);
  if (!host) return refuse(text, "names no host (an IPv6 address stands in brackets)");
  url.host = std::move(*host);

  if (!authority.empty() && authority.front() != ':')
    return refuse(text, "has something behind its host that is no port");
  url.port = url.secure ? 443 : 80;
  if (authority.size() > 1) {
    const auto port = read_port(authority.substr(1));
    if (!port) return refuse(text, "has a port that is no number from 1 to 65535");
    url.port = *port;
  }

  if (!is_path(path)) return refuse(text, "has a path that is none; a query does not belong to it");
  while (path.ends_with('/')) path.remove_suffix(1);
  url.prefix = path;
  return url;
}

}  // namespace paceline::net
