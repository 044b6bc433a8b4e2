#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/request_text.hpp"
#include "net/url.hpp"

namespace {

using namespace paceline;

void require(bool condition) {
  if (!condition) std::abort();
}

bool printable(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return true;
}

/// What was read can be written, read again to the same, and sent to without breaking the request.
void check(const net::Url& url) {
  require(!url.host.empty() && url.port != 0 && !url.prefix.ends_with('/'));
  require(url.prefix.empty() || url.prefix.starts_with('/'));
  require(printable(url.text()) && url.text().find('@') == std::string::npos);
  const auto again = net::parse_url(url.text());
  require(again && again->text() == url.text() && again->host == url.host);
  const auto request = net::request_text(url, {"GET", "/v1/models", {}, ""});
  require(request && request->find("/v1/models HTTP/1.1\r\nHost: ") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto url = net::parse_url(text))
    check(*url);
  else
    require(url.error().message.find('\n') == std::string::npos);
  return 0;
}
