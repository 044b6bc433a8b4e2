#pragma once

#include <string>

#include "net/http.hpp"
#include "net/url.hpp"
#include "util/result.hpp"

namespace paceline::net {

/// The bytes of a request to a server, with Host, Content-Length, Connection, User-Agent and
/// Accept-Encoding put in. An error when a part would break out of its line; it names the header
/// and never repeats a value, which may be a key.
util::Result<std::string> request_text(const Url& server, const Request& request);

}  // namespace paceline::net
