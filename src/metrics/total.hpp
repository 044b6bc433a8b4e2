#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace paceline::metrics {

/// A sum that is unknown, with the first reason, as soon as one part of it is.
template <class Number>
class Total {
 public:
  Total(Number value = 0) : value_(value) {}  // NOLINT(google-explicit-constructor): a plain sum

  static Total unknown(std::string reason) {
    Total total;
    total.value_.reset();
    total.reason_ = std::move(reason);
    return total;
  }

  bool known() const { return value_.has_value(); }
  const std::optional<Number>& value() const { return value_; }
  const std::string& reason() const { return reason_; }  ///< empty when known

  /// For arithmetic of figures: not a number when unknown, which no figure survives.
  double number() const {
    return value_ ? static_cast<double>(*value_) : std::numeric_limits<double>::quiet_NaN();
  }

  Total& operator+=(const Total& more) {
    if (!known()) return *this;
    if (!more.known()) return *this = more;
    *value_ += *more.value_;
    return *this;
  }
  Total& operator++() { return *this += Number{1}; }

  friend Total operator+(Total a, const Total& b) { return a += b; }
  friend Total operator-(const Total& a, const Total& b) {
    if (!b.known()) return a.known() ? b : a;
    return a + Total(-*b.value_);
  }

  /// An unknown total is equal to no number.
  friend bool operator==(const Total& a, Number b) { return a.value_ == b; }
  friend bool operator==(const Total& a, const Total& b) {
    return a.value_ == b.value_ && a.reason_ == b.reason_;
  }
  /// True when both are known and the relation holds.
  friend bool operator>(const Total& a, const Total& b) {
    return a.known() && b.known() && *a.value_ > *b.value_;
  }
  friend bool operator<(const Total& a, const Total& b) { return b > a; }
  friend bool operator>=(const Total& a, const Total& b) {
    return a.known() && b.known() && *a.value_ >= *b.value_;
  }
  friend bool operator<=(const Total& a, const Total& b) { return b >= a; }

 private:
  std::optional<Number> value_;
  std::string reason_;
};

using Count = Total<long>;
using Seconds = Total<double>;
using Bytes = Total<double>;

}  // namespace paceline::metrics
