#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.hpp"
#include "util/result.hpp"

namespace paceline::dialect {

/// Notes what was odd. A server may say anything: the list and each text are cut.
void add_oddity(std::vector<std::string>& oddities, std::string text);

/// Parses one message or answer; it must be an object. `what` names it.
util::Result<util::Json> parse_object(std::string_view text, std::string_view what);

/// Parses one message of a stream. Bytes that are not UTF-8 cost no message: they become U+FFFD,
/// and that is an oddity.
util::Result<util::Json> parse_message(std::string_view text, std::vector<std::string>& oddities);

/// Text of a server as one printable line of at most 300 bytes.
std::string short_line(std::string_view hostile);

/// One JSON object of a server. A field that is absent or null is nothing; one that is of the wrong
/// type or out of range is an oddity and nothing.
class Fields {
 public:
  /// `where` is put before the names of fields: "timings" makes "timings.predicted_n".
  Fields(const util::Json& object, std::string where, std::vector<std::string>& oddities);

  /// False for an object that was not there: all its fields are absent.
  explicit operator bool() const { return object_ != nullptr; }
  bool has(const char* key) const;  ///< null is there too
  std::string path(const char* key) const;

  std::optional<long> count(const char* key) const;         ///< whole, 0 or more
  std::optional<int> small_count(const char* key) const;    ///< likewise, and an int
  std::optional<double> amount(const char* key) const;      ///< finite, 0 or more
  std::optional<double> any_number(const char* key) const;  ///< finite
  std::optional<bool> flag(const char* key) const;
  std::optional<std::string> text(const char* key) const;
  std::optional<std::string> line(const char* key) const;  ///< of text, short_line

  Fields object(const char* key) const;
  const util::Json* array(const char* key) const;  ///< null when it is not there

  /// Counts by position, of a list [39,1] or an object {"0":39,"1":1}; at most `most` in a list and
  /// positions below 4096 in an object.
  std::optional<std::vector<double>> counts(const char* key, std::size_t most = 4096) const;
  /// Such lists by a number below 4096, of an object {"3":[39,1,0,3]}.
  std::optional<std::map<std::size_t, std::vector<double>>> counts_by_number(const char* key) const;

  void odd(const char* key, const char* what) const;
  std::vector<std::string>& oddities() const { return *oddities_; }

 private:
  Fields(const util::Json* object, std::string where, std::vector<std::string>* oddities);
  const util::Json* find(const char* key) const;  ///< null for an absent field and for null

  const util::Json* object_;
  std::string where_;
  std::vector<std::string>* oddities_;
};

}  // namespace paceline::dialect
