#include "claim/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace paceline::claim {

namespace {

constexpr std::size_t longest_number = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

struct Digits {
  double value = 0;
  double half_unit = 0;  ///< of the last digit
  std::size_t length = 0;
};

/// A comma with three digits behind it, and no fourth.
bool parts_thousands(std::string_view text, std::size_t at) {
  if (text[at] != ',' || at + 3 >= text.size()) return false;
  const auto next = text.substr(at + 1, 3);
  return std::all_of(next.begin(), next.end(), is_digit) &&
         (at + 4 == text.size() || !is_digit(text[at + 4]));
}

/// Bytes of "e9" or "e+09" at the start of a text; 0: there is none.
std::size_t exponent_length(std::string_view text) {
  if (!text.starts_with('e') && !text.starts_with('E')) return 0;
  std::size_t at = text.size() > 1 && (text[1] == '+' || text[1] == '-') ? 2 : 1;
  const std::size_t sign = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at > sign && at < sign + 4 ? at : 0;
}

/// Digits with one point and an exponent, and with commas where they part thousands.
std::optional<Digits> scan_digits(std::string_view text) {
  std::string plain;
  int decimals = 0;
  bool point = false;
  std::size_t at = 0;
  for (; at < text.size() && at < longest_number; ++at) {
    if (!plain.empty() && !point && parts_thousands(text, at)) continue;
    const bool is_point = text[at] == '.' && !point && !plain.empty() && at + 1 < text.size() &&
                          is_digit(text[at + 1]);
    if (!is_point && !is_digit(text[at])) break;
    if (point) ++decimals;
    point = point || is_point;
    plain += text[at];
  }
  if (plain.empty() || at == longest_number) return std::nullopt;
  const std::string_view exponent = text.substr(at, exponent_length(text.substr(at)));
  plain += exponent;
  double value = 0;
  const auto read = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  double power = 0;
  if (!exponent.empty()) {
    const std::size_t skip = exponent[1] == '+' ? 2 : 1;
    std::from_chars(exponent.data() + skip, exponent.data() + exponent.size(), power);
  }
  return Digits{value, 0.5 * std::pow(10.0, power - decimals), at + exponent.size()};
}

struct Suffix {
  const char* text;
  double scale;
};

constexpr std::array rates = {
    Suffix{"tokens/s", 1},
    Suffix{"token/s", 1},
    Suffix{"tok/s", 1},
    Suffix{"t/s", 1},
    Suffix{"tps", 1},
    Suffix{"passes/s", 1},
    Suffix{"tokens per second", 1},
    Suffix{"/s", 1},
    Suffix{"tok/sec", 1},
};
constexpr std::array ratios = {Suffix{"%", 0.01}, Suffix{"x", 1}, Suffix{"\xC3\x97", 1}};
constexpr std::array times = {Suffix{"ms", 1e-3}, Suffix{"us", 1e-6},   Suffix{"ns", 1e-9},
                              Suffix{"min", 60},  Suffix{"seconds", 1}, Suffix{"sec", 1},
                              Suffix{"s", 1}};
constexpr std::array counts = {Suffix{"tokens", 1}, Suffix{"tok", 1},  Suffix{"k", 1e3},
                               Suffix{"K", 1e3},    Suffix{"M", 1e6},  Suffix{"B", 1e9},
                               Suffix{"T", 1e12},   Suffix{" K", 1e3}, Suffix{" M", 1e6},
                               Suffix{" B", 1e9}};
constexpr double kibi = 1024;
constexpr std::array sizes = {
    Suffix{"KiB", kibi},
    Suffix{"MiB", kibi* kibi},
    Suffix{"GiB", kibi* kibi* kibi},
    Suffix{"TiB", kibi* kibi* kibi* kibi},
    Suffix{"kB", 1e3},
    Suffix{"KB", 1e3},
    Suffix{"MB", 1e6},
    Suffix{"GB", 1e9},
    Suffix{"TB", 1e12},
    Suffix{"bytes", 1},
    Suffix{"B", 1},
};

template <class Table>
std::optional<double> scale_in(const Table& table, std::string_view unit) {
  for (const Suffix& one : table)
    if (trimmed(one.text) == unit) return one.scale;
  return std::nullopt;
}

/// What a unit multiplies by; nothing when it is none of the dimension's.
std::optional<double> scale_of(Dimension dimension, std::string_view unit) {
  unit = trimmed(unit);
  if (unit.empty()) return 1;
  switch (dimension) {
    case Dimension::rate:
      return scale_in(rates, unit);
    case Dimension::ratio:
      return scale_in(ratios, unit);
    case Dimension::seconds:
      return scale_in(times, unit);
    case Dimension::count:
      return scale_in(counts, unit);
    case Dimension::bytes:
      return scale_in(sizes, unit);
    case Dimension::bytes_per_s:
      if (!unit.ends_with("/s")) return std::nullopt;
      return scale_in(sizes, unit.substr(0, unit.size() - 2));
    case Dimension::length:
    case Dimension::score:
      return unit == "tokens" || unit == "tok" || unit == "x" ? std::optional(1.0) : std::nullopt;
  }
  return std::nullopt;
}

Range scaled(const Range& range, double scale) { return range * exactly(scale); }

Range rounded(const Digits& digits, bool exact) {
  const double half = exact ? 0 : digits.half_unit;
  return {digits.value, std::max(0.0, digits.value - half), digits.value + half};
}

constexpr std::array plus_minus = {"+-", "+/-", "\xC2\xB1", "\xB1", " _ "};

/// What stands behind the first number and before the unit: "-6.8", "..6.8", "+-0.5".
bool take_second(std::string_view& rest, const Digits& first, Range& range) {
  std::string_view after = trimmed(rest);
  for (const std::string_view sign : plus_minus) {
    std::string_view at = sign.front() == ' ' ? rest : after;
    if (!take(at, sign)) continue;
    at = trimmed(at);
    const auto spread = scan_digits(at);
    if (!spread) return false;
    range = {first.value, std::max(0.0, first.value - spread->value), first.value + spread->value};
    rest = at.substr(spread->length);
    return true;
  }
  for (const std::string_view sign : {"..", "-", "\xE2\x80\x93", "to "}) {
    std::string_view at = after;
    if (!take(at, sign)) continue;
    at = trimmed(at);
    const auto second = scan_digits(at);
    if (!second || second->value < first.value) return false;
    range = between(range.low, second->value + (range.low < first.value ? second->half_unit : 0));
    rest = at.substr(second->length);
    return true;
  }
  return true;
}

}  // namespace

std::optional<Range> parse_figure(std::string_view text, Figure figure, std::string_view unit) {
  const Dimension dimension = dimension_of(figure);
  text = trimmed(text);
  bool about = take(text, "~");
  about = take(text, "\xE2\x89\x88") || about;
  const bool gain = figure == Figure::speedup && (text.starts_with('+') || text.starts_with('-'));
  const bool loss = gain && text.front() == '-';
  if (gain) text.remove_prefix(1);
  text = trimmed(text);
  const auto first = scan_digits(text);
  if (!first) return std::nullopt;
  std::string_view rest = text.substr(first->length);
  Range range = rounded(*first, dimension == Dimension::count && !about);
  if (about)
    range = {first->value, std::max(0.0, first->value - 2 * first->half_unit),
             first->value + 2 * first->half_unit};
  if (!take_second(rest, *first, range)) return std::nullopt;
  rest = trimmed(rest);
  const bool has_unit = !rest.empty();
  const auto scale = scale_of(dimension, has_unit ? rest : unit);
  if (!scale) return std::nullopt;
  if (dimension == Dimension::count && *scale > 1 && range.low == range.high)
    range = rounded(*first, false);
  range = scaled(range, *scale);
  if (!gain) return range;
  if (*scale >= 1) return std::nullopt;
  return loss ? exactly(1) - range : exactly(1) + range;
}

std::optional<Range> parse_figure(std::string_view text, Figure figure) {
  return parse_figure(text, figure, {});
}

}  // namespace paceline::claim
