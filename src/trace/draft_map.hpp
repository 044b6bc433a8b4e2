#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/setup.hpp"
#include "trace/time.hpp"

namespace paceline::trace {

/// What a drafter proposed along a text for one way of drafting. Place t is behind token t of the
/// text, counted from 0: the draft is for tokens t + 1, t + 2, .. Lists are equally long.
struct DraftAsk {
  Drafting drafting;
  std::vector<int> places;    ///< ascending: all of the text, or those that a walk came by
  std::vector<int> offered;   ///< tokens of the draft there
  std::vector<int> accepted;  ///< of those, the first so many that the text agrees with
};

/// What asking along a text is worth for other lengths than the one asked for.
enum class MapKind {
  one_ask,      ///< a shorter draft is the beginning of a longer one: one ask gives all lengths
  each_length,  ///< drafts of different lengths differ: each length was asked for
  walked,       ///< a draft depends on what was accepted before: each length was walked for real
};

/// A text that is given, and at its places what a drafter would have proposed.
struct DraftMap {
  std::string workload_class;
  std::string prompt_id;
  std::string family;  ///< as of a Request
  MapKind kind = MapKind::one_ask;
  int prompt_tokens = 0;
  std::vector<std::int32_t> tokens;  ///< the text
  bool ends_itself = false;          ///< its last token is one that ends a text
  std::string reason;                ///< why nothing was asked; empty: it was
  std::vector<DraftAsk> asks;
  Nanoseconds began_ns = 0;
  Nanoseconds ended_ns = 0;
};

}  // namespace paceline::trace
