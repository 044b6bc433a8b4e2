#include "support/mock_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <stdexcept>

#include "net/client.hpp"
#include "net/sse.hpp"

namespace paceline::support {

namespace {

constexpr auto patience = std::chrono::seconds(30);

}  // namespace

MockServer::MockServer(mock::Options options) {
  auto server = mock::Mock::listen(std::move(options));
  if (!server) throw std::runtime_error(server.error().message);
  server_ = std::move(*server);
  thread_ = std::thread([this] { server_->run(); });
}

MockServer::~MockServer() {
  server_->stop();
  thread_.join();
}

net::Url MockServer::address() const { return *net::parse_url(url()); }

mock::Plan MockServer::plan(std::string_view prompt, int tokens) const {
  return mock::plan(truth(), prompt, mock::Limits{tokens, false});
}

net::Response MockServer::fetch(net::Request request) const {
  net::Client client{net::ClientOptions{}};
  auto response = client.fetch(address(), std::move(request), patience);
  if (response) return *response;
  ADD_FAILURE() << response.error().message;
  return {};
}

net::Response MockServer::get(const std::string& target) const {
  net::Request request;
  request.target = target;
  return fetch(std::move(request));
}

net::Response MockServer::post(const std::string& target, const util::Json& body) const {
  return fetch({"POST", target, {{"Content-Type", "application/json"}}, body.dump()});
}

std::vector<std::string> event_data(const net::Response& response) {
  net::SseParser parser;
  std::vector<net::SseEvent> events;
  parser.feed(response.body, events);
  std::vector<std::string> data;
  for (const auto& event : events) data.push_back(event.data);
  return data;
}

std::vector<util::Json> event_json(const net::Response& response) {
  std::vector<util::Json> events;
  for (const std::string& data : event_data(response)) {
    if (data == "[DONE]") continue;
    auto json = util::parse_json(data, "an event");
    events.push_back(json ? *json : util::Json());
  }
  return events;
}

std::optional<double> metric_value(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + " ")) return std::stod(line.substr(name.size() + 1));
  return std::nullopt;
}

}  // namespace paceline::support
