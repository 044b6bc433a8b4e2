#include "workload/mix_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "util/files.hpp"

namespace paceline::workload {

namespace {

constexpr const char* form = "write it as code=0.4,prose=0.3,json=0.3, or name a .toml file";
constexpr std::int64_t deepest = 1 << 24;
constexpr std::size_t longest_file = 1 << 14;  // bytes; the parser recurses as deep as keys nest

/// Thrown while reading a mix file, and caught by parse_mix_file only.
struct BadMix : std::runtime_error {
  BadMix(const toml::node& where, const std::string& what)
      : std::runtime_error(fmt::format("line {}: {}", where.source().begin.line, what)) {}
};

util::Result<trace::Mix> checked(trace::Mix mix, std::string_view source) {
  const auto reason = trace::reason_against(mix);
  if (reason.empty()) return mix;
  return util::fail(util::ErrorKind::usage, fmt::format("{}: {}", source, reason));
}

/// All keys of a table must be known: a misspelt one would silently mean nothing.
void check_keys(const toml::table& table, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : table)
    if (std::find(known.begin(), known.end(), key.str()) == known.end())
      throw BadMix(value, fmt::format("\"{}\" is no key of a mix; those here are {}", key.str(),
                                      fmt::join(known, ", ")));
}

const toml::node& require(const toml::table& table, const char* key) {
  const toml::node* found = table.get(key);
  if (found == nullptr) throw BadMix(table, fmt::format("\"{}\" is missing", key));
  return *found;
}

double read_number(const toml::node& node, const char* what) {
  const auto value = node.value<double>();
  if (!value || !std::isfinite(*value))
    throw BadMix(node, fmt::format("{}: a number was expected", what));
  return *value;
}

trace::MixClass read_class(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) throw BadMix(node, "a table of a class was expected");
  check_keys(*table, {"share", "tokens_per_request", "depth"});
  trace::MixClass item;
  item.share = read_number(require(*table, "share"), "share");
  if (const toml::node* tokens = table->get("tokens_per_request")) {
    item.tokens_per_request = read_number(*tokens, "tokens_per_request");
    if (*item.tokens_per_request < 1)
      throw BadMix(*tokens, "tokens_per_request: a request has at least 1 token");
  }
  if (const toml::node* depth = table->get("depth")) {
    const auto value = depth->value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > deepest)
      throw BadMix(*depth, "depth: a whole number of KV positions was expected");
    item.depth = static_cast<int>(*value);
  }
  return item;
}

/// w_k = r_k n_k / sum r n: requests of many tokens make a larger part of the output.
void turn_requests_into_tokens(trace::Mix& mix, const toml::node& where) {
  if (const auto reason = trace::reason_against(mix); !reason.empty()) throw BadMix(where, reason);
  double tokens = 0;
  for (const auto& [name, item] : mix.classes) {
    if (!item.tokens_per_request)
      throw BadMix(where, fmt::format("shares are of requests and class {} does not say its "
                                      "tokens_per_request, so they cannot be converted",
                                      name));
    tokens += item.share * *item.tokens_per_request;
  }
  for (auto& [name, item] : mix.classes) item.share *= *item.tokens_per_request / tokens;
}

trace::Mix read_mix(const toml::table& file) {
  check_keys(file, {"name", "shares_of", "classes"});
  trace::Mix mix;
  const toml::node& name = require(file, "name");
  mix.name = name.value_or(std::string());
  if (mix.name.empty()) throw BadMix(name, "name: some text was expected");
  const toml::node& shares_of = require(file, "shares_of");
  const auto whose = shares_of.value_or(std::string());
  if (whose != "tokens" && whose != "requests")
    throw BadMix(shares_of, "shares_of is \"tokens\" or \"requests\"");
  const toml::node& classes = require(file, "classes");
  if (!classes.is_table()) throw BadMix(classes, "classes: a table a class was expected");
  for (const auto& [key, node] : *classes.as_table())
    mix.classes[std::string(key.str())] = read_class(node);
  if (whose == "requests") turn_requests_into_tokens(mix, classes);
  return mix;
}

util::Result<double> parse_share(std::string_view text) {
  double share = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, share);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(share)) return share;
  return util::fail(util::ErrorKind::usage,
                    fmt::format("--mix: \"{}\" is no share; {}", text, form));
}

}  // namespace

util::Result<trace::Mix> parse_mix_shares(std::string_view text, int tokens_per_request) {
  trace::Mix mix;
  mix.name = std::string(text);
  std::istringstream list(mix.name);
  for (std::string part; std::getline(list, part, ',');) {
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos)
      return util::fail(util::ErrorKind::usage,
                        fmt::format("--mix: \"{}\" is no CLASS=SHARE; {}", part, form));
    PACELINE_TRY_ASSIGN(const double share, parse_share(part.substr(equals + 1)));
    const std::string name = part.substr(0, equals);
    if (!mix.classes.insert({name, {share, tokens_per_request, std::nullopt}}).second)
      return util::fail(util::ErrorKind::usage, fmt::format("--mix names class {} twice", name));
  }
  return checked(std::move(mix), "--mix");
}

util::Result<trace::Mix> parse_mix_file(std::string_view text, std::string_view source) {
  if (text.size() > longest_file)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("{} has {} bytes, and a mix file has at most {}", source,
                                  text.size(), longest_file));
  try {
    return checked(read_mix(toml::parse(text)), source);
  } catch (const toml::parse_error& problem) {
    return util::fail(
        util::ErrorKind::usage,
        fmt::format("{}, line {}: {}", source, problem.source().begin.line, problem.description()));
  } catch (const BadMix& problem) {
    return util::fail(util::ErrorKind::usage, fmt::format("{}, {}", source, problem.what()));
  }
}

util::Result<trace::Mix> load_mix(const std::string& shares_or_path, int tokens_per_request) {
  const std::filesystem::path path = shares_or_path;
  if (path.extension() != ".toml") return parse_mix_shares(shares_or_path, tokens_per_request);
  PACELINE_TRY_ASSIGN(const std::string text, util::read_file(path));
  return parse_mix_file(text, path.filename().string());
}

}  // namespace paceline::workload
