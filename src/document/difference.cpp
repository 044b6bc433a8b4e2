#include "document/difference.hpp"

#include <map>
#include <set>

#include "document/counted.hpp"
#include "trace/json.hpp"

namespace paceline::document {

namespace {

using Places = std::map<std::string, std::string>;

void flatten_into(Places& facts, const std::string& below, const util::Json& json) {
  const util::Json flat = json.flatten();
  for (const auto& [place, value] : flat.items())
    if (!value.is_null()) facts[below + place] = util::dump_json(value);
}

/// What was asked for and what ran, without what is another one in every study. An arm that the
/// other study lacks is one place.
Places places_of(const trace::Trace& trace, const Document& document, const trace::Trace& other) {
  Places facts;
  util::Json header = trace.header;
  for (const char* own : {"trace_id", "created", "arms"}) header.erase(own);
  flatten_into(facts, "/header", header);
  for (const auto& arm : trace.header.arms) {
    const std::string place = "/header/arms/" + arm.name;
    if (trace::find_arm(other.header.arms, arm.name) == nullptr) {
      facts[place] = "an arm of this study alone";
      continue;
    }
    flatten_into(facts, place, util::Json(arm));
    const auto* engine = first_facts(trace, arm.name);
    if (engine == nullptr) continue;
    util::Json json = *engine;
    for (const char* own : {"load_s", "memory"}) json.erase(own);
    flatten_into(facts, "/engine/" + arm.name, json);
  }
  for (const auto& [thing, fact] :
       {std::pair("processor", &document.machine.processor),
        std::pair("kernel", &document.machine.kernel), std::pair("os", &document.machine.os),
        std::pair("governor", &document.machine.governor)})
    if (fact->value) facts[std::string("/machine/") + thing] = *fact->value;
  if (trace.about)
    for (const auto& [thing, value] : trace.about->fingerprint) facts["/on/" + thing] = value;
  return facts;
}

using Cells = std::map<std::pair<std::string, std::string>, const Decode*>;

Cells cells_of(const Document& document) {
  Cells cells;
  for (const auto& arm : document.arms)
    for (const auto& workload : arm.workloads)
      cells[{arm.name, workload.workload_class}] = &workload.decode;
  return cells;
}

std::string text_at(const Places& facts, const std::string& place) {
  const auto found = facts.find(place);
  return found == facts.end() ? "" : found->second;
}

}  // namespace

Difference to_difference(const trace::Trace& one, const Document& one_document,
                         const trace::Trace& other, const Document& other_document) {
  Difference difference{one.header.trace_id, other.header.trace_id, {}, {}, {}};
  const Places mine = places_of(one, one_document, other);
  const Places theirs = places_of(other, other_document, one);
  std::set<std::string> places;
  for (const auto* facts : {&mine, &theirs})
    for (const auto& [place, value] : *facts) places.insert(place);
  for (const auto& place : places)
    if (text_at(mine, place) != text_at(theirs, place))
      difference.unlike.push_back({place, text_at(mine, place), text_at(theirs, place)});
  const Cells cells = cells_of(one_document);
  const Cells others = cells_of(other_document);
  for (const auto& [name, decode] : cells) {
    const auto found = others.find(name);
    if (found == others.end()) {
      difference.only_in_one.push_back(name.first + " on " + name.second);
      continue;
    }
    for (const auto& [figure, field] : {std::pair("tokens/s", &Decode::tokens_per_s),
                                        std::pair("passes/s", &Decode::passes_per_s),
                                        std::pair("tokens/pass", &Decode::tokens_per_pass)})
      difference.figures.push_back(
          {name.first, name.second, figure, decode->*field, found->second->*field});
  }
  for (const auto& [name, decode] : others)
    if (cells.count(name) == 0) difference.only_in_one.push_back(name.first + " on " + name.second);
  return difference;
}

}  // namespace paceline::document
