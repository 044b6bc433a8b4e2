#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::net {

/// Where a server is: scheme, host, port and the path before its routes ("" or "/prefix").
struct Url {
  bool secure = false;  ///< https
  std::string host;     ///< name or address; of IPv6 without its brackets
  std::uint16_t port = 0;
  std::string prefix;  ///< without a slash at its end

  /// "https://host:port/prefix"
  std::string text() const;
};

/// Reads "http://host[:port][/prefix]"; no scheme is http. A user name or password in it is
/// refused, since it would be stored: the message does not repeat it.
util::Result<Url> parse_url(std::string_view text);

}  // namespace paceline::net
