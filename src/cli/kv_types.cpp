#include "cli/kv_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <utility>

namespace paceline::cli {

namespace {

/// One choice of types for the KV caches of an arm, and how names tell it from the others.
struct KvChoice {
  trace::KvTypes types;
  std::string label;  ///< "q8_0" or "k:q8_0,v:f16"; empty where there is no other choice
};

/// Every K with every V; `mark` stands before the letters in labels.
std::vector<KvChoice> kv_choices(const std::vector<std::string>& k,
                                 const std::vector<std::string>& v, const std::string& mark) {
  const auto choices = [](const std::vector<std::string>& types) {
    std::vector<std::optional<std::string>> list(types.begin(), types.end());
    if (list.empty()) list.emplace_back();
    return list;
  };
  std::vector<KvChoice> all;
  for (const auto& one_k : choices(k))
    for (const auto& one_v : choices(v)) {
      std::vector<std::string> parts;
      if (k.size() > 1) parts.push_back(fmt::format("{}k:{}", mark, *one_k));
      if (v.size() > 1) parts.push_back(fmt::format("{}v:{}", mark, *one_v));
      if (parts.size() == 2 && one_k == one_v)
        parts = {mark.empty() ? *one_k : fmt::format("{}:{}", mark, *one_k)};
      all.push_back({{one_k, one_v}, fmt::format("{}", fmt::join(parts, ","))});
    }
  return all;
}

std::string labelled(const std::string& name, const std::string& label, const char* before) {
  return label.empty() ? name : name + before + label;
}

}  // namespace

bool asks_kv_types(const ArmSettings& settings) {
  return !(settings.kv_k.empty() && settings.kv_v.empty() && settings.draft_kv_k.empty() &&
           settings.draft_kv_v.empty());
}

bool has_drafter_cache(const trace::Setup& setup) {
  return setup.spec_type != trace::SpecType::none && !trace::is_ngram(setup.spec_type);
}

std::vector<trace::Arm> with_kv_types(const ArmSettings& settings,
                                      const std::vector<trace::Arm>& arms) {
  const auto of_drafters = kv_choices(settings.draft_kv_k, settings.draft_kv_v, "d");
  std::vector<trace::Arm> all;
  for (const auto& [types, label] : kv_choices(settings.kv_k, settings.kv_v, ""))
    for (trace::Arm arm : arms) {
      arm.setup.kv = types;
      arm.name = labelled(arm.name, label, "@");
      arm.plain = labelled(arm.plain, label, "@");
      if (!has_drafter_cache(arm.setup)) {
        all.push_back(std::move(arm));
        continue;
      }
      for (const auto& choice : of_drafters) {
        all.push_back(arm);
        all.back().setup.draft_kv = choice.types;
        all.back().name = labelled(arm.name, choice.label, label.empty() ? "@" : ",");
      }
    }
  return all;
}

}  // namespace paceline::cli
