#include "engine/server/api_key.hpp"

namespace paceline::engine::server {

namespace {

constexpr std::size_t shortest_secret = 6;

}  // namespace

void ApiKey::put_into(net::Request& request) const {
  if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_);
}

/// True when it stood there. Values of ours are a few levels deep.
bool ApiKey::take_out(util::Json& json) const {
  if (key_.size() < shortest_secret) return false;
  bool found = false;
  if (json.is_string()) {
    auto text = json.get<std::string>();
    for (std::size_t at = 0; (at = text.find(key_, at)) != std::string::npos; found = true)
      text.replace(at, key_.size(), "[key]");
    if (found) json = std::move(text);
  } else if (json.is_structured()) {
    for (auto& element : json) found |= take_out(element);
  }
  return found;
}

}  // namespace paceline::engine::server
