#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paceline::net {

using TimePoint = std::chrono::steady_clock::time_point;
using Headers = std::vector<std::pair<std::string, std::string>>;

/// Whether two names of headers, schemes or hosts are one, whatever their case.
bool same_name(std::string_view a, std::string_view b);

/// The value of a header, whatever the case of its name; nothing when it is not there.
std::optional<std::string_view> header(const Headers& headers, std::string_view name);

/// One HTTP request. Host, Content-Length and Connection are put in by the client.
struct Request {
  std::string method = "GET";
  std::string target = "/";  ///< path and query
  Headers headers;
  std::string body;
  std::size_t largest_answer = 0;  ///< bytes of its body; 0: as many as the client takes
};

/// A whole answer.
struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

}  // namespace paceline::net
