#pragma once

#include <string>
#include <utility>

#include "net/http.hpp"
#include "util/json.hpp"

namespace paceline::engine::server {

/// The key that a server wants. It goes into a header, and is taken out of everything that the
/// server says, who may repeat it anywhere.
class ApiKey {
 public:
  explicit ApiKey(std::string key) : key_(std::move(key)) {}

  bool empty() const { return key_.empty(); }
  void put_into(net::Request& request) const;

  /// Replaces it in every text of a value that has a JSON form. A key of under 6 characters stands
  /// in any text and is left there.
  template <class Value>
  void take_out_of(Value& value) const {
    util::Json json = value;
    if (!take_out(json)) return;
    if (auto clean = util::from_json_value<Value>(json, "what a server said"))
      value = std::move(*clean);
  }

 private:
  bool take_out(util::Json& json) const;

  std::string key_;
};

}  // namespace paceline::engine::server
