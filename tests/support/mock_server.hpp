#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mock/mock.hpp"
#include "net/http.hpp"
#include "net/url.hpp"
#include "util/json.hpp"

namespace paceline::support {

/// A mock server in a thread of its own on a free port of loopback, for as long as it lives.
class MockServer {
 public:
  explicit MockServer(mock::Options options);
  ~MockServer();
  MockServer(const MockServer&) = delete;
  MockServer& operator=(const MockServer&) = delete;

  std::string url() const { return server_->url(); }
  net::Url address() const;
  const mock::Truth& truth() const { return server_->truth(); }

  /// What a request for so many tokens of this prompt comes to.
  mock::Plan plan(std::string_view prompt, int tokens) const;

  long requests_to(std::string_view path) const { return server_->requests_to(path); }
  std::vector<mock::Received> received() const { return server_->received(); }

  // One request and its whole answer; fails the test when there is none.
  net::Response get(const std::string& target) const;
  net::Response post(const std::string& target, const util::Json& body) const;

 private:
  net::Response fetch(net::Request request) const;

  std::unique_ptr<mock::Mock> server_;
  std::thread thread_;
};

/// The data of each event of an answer that was streamed.
std::vector<std::string> event_data(const net::Response& response);
/// Likewise as JSON; a "[DONE]" is left out, what does not parse is null.
std::vector<util::Json> event_json(const net::Response& response);
/// The value of a metric in Prometheus text, by its name with its labels; nothing when it is not
/// there.
std::optional<double> metric_value(const std::string& text, const std::string& name);

}  // namespace paceline::support
