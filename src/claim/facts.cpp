#include "claim/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "document/facts.hpp"

namespace paceline::claim {

namespace {

using enum Figure;
using document::ClaimFact;
using Rows = std::vector<Worked>;

bool says(const Rows& rows, const char* name) {
  return std::any_of(rows.begin(), rows.end(), [name](const Worked& row) {
    const auto found = row.row.context.find(name);
    return found != row.row.context.end() && !found->second.empty();
  });
}

bool any_has(const Rows& rows, Figure figure) {
  return std::any_of(rows.begin(), rows.end(),
                     [figure](const Worked& row) { return row.has(figure); });
}

bool is_about_drafts(const Worked& row) {
  constexpr std::array signs = {acceptance,  accepted,          offered,  passes_speculative,
                                draft_limit, acceptance_length, attempts, accepted_per_pass};
  if (is_plain(row.row)) return false;
  if (row.has(tokens_per_pass) && row.at(tokens_per_pass).high > 1) return true;
  return row.row.context.contains("drafter") ||
         std::any_of(signs.begin(), signs.end(), [&](Figure one) { return row.has(one); });
}

/// True when every row in question has a value for the figure, and there is one.
template <class Question>
bool every(const Rows& rows, Figure figure, Question in_question) {
  bool any = false;
  for (const Worked& row : rows) {
    if (!in_question(row)) continue;
    if (!row.has(figure) || !row.at(figure).value) return false;
    any = true;
  }
  return any;
}

std::string join(const std::vector<std::string>& lacking) {
  std::string text;
  for (std::size_t i = 0; i < lacking.size(); ++i)
    text += (i == 0 ? "" : i + 1 == lacking.size() ? " and " : ", ") + lacking[i];
  return text;
}

/// What of a list is not there, as a reason; empty: all is.
class Lacking {
 public:
  explicit Lacking(const Rows& rows) : rows_(rows) {}
  Lacking& word(const char* name, const char* what) { return unless(says(rows_, name), what); }
  Lacking& number(Figure figure, const char* what) { return unless(any_has(rows_, figure), what); }
  Lacking& unless(bool there, const char* what) {
    if (!there) list_.emplace_back(what);
    return *this;
  }
  std::string reason() const {
    return list_.empty() ? "" : join(list_) + (list_.size() > 1 ? " are" : " is") + " not given";
  }

 private:
  const Rows& rows_;
  std::vector<std::string> list_;
};

std::string recipe(const Rows& rows) {
  return Lacking(rows)
      .word("model", "the model")
      .word("quant", "the quantisation")
      .word("imatrix", "the importance matrix")
      .number(file_bytes, "the file size")
      .reason();
}

std::string drafter(const Rows& rows) {
  return Lacking(rows)
      .word("drafter", "the drafter")
      .word("drafter_quant", "its quantisation")
      .number(draft_limit, "its draft length")
      .reason();
}

std::string tasks(const Rows& rows) {
  const bool shares = any_has(rows, share) || says(rows, "mix");
  return Lacking(rows)
      .word("class", "what was generated")
      .unless(shares || !says(rows, "class"), "the share of each class")
      .reason();
}

/// The counts are an acceptance, whatever else was printed as one.
bool has_other_acceptance(const Worked& row) {
  return is_about_drafts(row) && !is_share_of_drafts(row.row) &&
         !(row.has(accepted) && row.has(offered));
}

std::string acceptance_fact(const Rows& rows) {
  const bool of_drafts = std::none_of(rows.begin(), rows.end(), has_other_acceptance);
  return Lacking(rows)
      .unless(of_drafts && every(rows, acceptance, is_about_drafts), "the acceptance of every arm")
      .unless(every(rows, fire_rate, is_about_drafts), "how many passes had a draft")
      .unless(every(rows, draft_per_pass, is_about_drafts), "how long the drafts were")
      .reason();
}

bool is_measured(const Worked& row) { return row.has(tokens_per_s) || is_about_drafts(row); }

std::string length(const Rows& rows) {
  return every(rows, tokens_per_pass, is_measured)
             ? ""
             : "tokens per pass is not given and does not follow";
}

std::string sampling(const Rows& rows) {
  if (!says(rows, "sampling")) return "no sampling parameter is given";
  const auto all = std::find_if(rows.begin(), rows.end(), [](const Worked& row) {
    return row.row.context.contains("sampling");
  });
  const std::string text = plain_head(all->row.context.at("sampling"));
  std::vector<std::string> lacking;
  for (const char* const name : {"temp", "top k", "top p", "min p"})
    if (text.find(name) == std::string::npos) lacking.emplace_back(name);
  return lacking.empty() || text.starts_with("greedy") ? "" : join(lacking) + " not given";
}

std::string prefill_and_decode(const Rows& rows) {
  return Lacking(rows)
      .number(tokens_per_s, "the decode speed")
      .number(prefill_tokens_per_s, "the prefill speed")
      .reason();
}

std::string kv_position(const Rows& rows) {
  return Lacking(rows).number(depth, "the occupied depth").word("kv_type", "the KV types").reason();
}

std::string memory(const Rows& rows) {
  return Lacking(rows).word("memory_after", "memory after a real fill").reason();
}

std::string backend(const Rows& rows) {
  return Lacking(rows).word("backend", "devices, offload and where drafts are selected").reason();
}

std::string quality(const Rows& rows) {
  const bool known = any_has(rows, perplexity) || says(rows, "quality");
  return known ? "" : "nothing says how good the output is";
}

std::string build(const Rows& rows) {
  return Lacking(rows).word("build", "the engine's commit").word("tool", "what measured").reason();
}

std::string ceiling(const Rows& rows) {
  if (any_has(rows, ceiling_share)) return "";
  return Lacking(rows)
      .number(bytes_per_pass, "what a pass reads")
      .number(bandwidth, "the bandwidth")
      .unless(any_has(rows, passes_per_s), "the passes per second")
      .reason();
}

std::string concurrency_fact(const Rows& rows) {
  return Lacking(rows)
      .number(concurrency, "the number of sequences at once")
      .word("n_batch", "the batch shape")
      .reason();
}

std::string power(const Rows& rows) {
  return Lacking(rows).word("power", "power cap, clocks and throttling").reason();
}

std::string output(const Rows& rows) {
  const bool length = any_has(rows, tokens) || any_has(rows, output_tokens);
  return Lacking(rows).unless(length, "the output length").word("stop", "the stop rule").reason();
}

std::string sample(const Rows& rows) {
  return Lacking(rows)
      .number(prompts, "the number of prompts")
      .number(launches, "the number of launches")
      .number(n_eff, "n_eff")
      .reason();
}

struct Rule {
  const char* fact;
  const char* name;
  bool decides;  ///< without it the claim is a screenshot
  bool needs_drafter;
  double has_moved;  ///< a speed, by this factor, in the case below; 1: none
  const char* changes;
  const char* question;
  const char* command;
  std::string (*missing)(const Rows&);
};

// The cases are those of the two articles behind DEFINITIONS 12 and of public threads.
constexpr std::array rules = {
    Rule{"F1", "target and exact quant recipe", false, false, 94.36 / 69.10,
         "recipes of one model ran from 69.10 to 94.36 tok/s",
         "Which file exactly: quantisation, importance matrix, size?", "paceline inspect MODEL",
         recipe},
    Rule{"F2", "drafter and draft length", false, true, 47.20 / 34.50,
         "draft length alone moved 34.50 to 47.20 tok/s",
         "Which drafter, in which quantisation, and how many tokens does it draft at most?",
         "paceline inspect DRAFTER", drafter},
    Rule{"F3", "task distribution", false, false, 84.64 / 38.34,
         "84.64 tok/s on code was 38.34 on mixed work", "What was generated, and in which shares?",
         "paceline run --mix", tasks},
    Rule{"F4", "acceptance with fire rate and draft length", true, true, 1,
         "91.6 and 86.5 % accepted stood beside +56 and +18 %",
         "How many draft tokens were offered and accepted, in how many passes?",
         "curl SERVER/metrics | paceline claim -", acceptance_fact},
    Rule{"F5", "tokens per pass", true, false, 1, "29.3 and 26.6 tok/s were 8.1 and 26.6 passes/s",
         "How many tokens came out of one pass of the target?", "paceline run --url SERVER",
         length},
    Rule{"F6", "every sampling parameter", false, false, 84.64 / 78.29,
         "a min-p nobody had asked for cost 8 %",
         "Which temperature, top-k, top-p and min-p were in force, defaults included?",
         "curl SERVER/props", sampling},
    Rule{"F7", "prefill and decode apart", false, false, 1.28 / 1.18,
         "a decode speed-up of 1.28 was 1.18 by the wall clock",
         "Which part of the time was the prompt's?", "paceline run", prefill_and_decode},
    Rule{"F8", "KV position and types", false, false, 84.64 / 21.56,
         "84.64 tok/s at the start were 21.56 behind 262 116 tokens",
         "How many tokens stood in the KV cache, and of which type is it?", "paceline run --depth",
         kv_position},
    Rule{"F9", "memory after a real fill", false, false, 1,
         "a context that loads may still not fit",
         "How much memory was taken once the context was full?", "paceline fill", memory},
    Rule{"F10", "backend path", false, false, 378.57 / 276.30,
         "the same drafts ran at 276 and 379 tok/s on two execution paths",
         "Which devices, how many layers on them, and where is the draft's token selected?",
         "paceline run", backend},
    Rule{"F11", "quality beside speed", false, false, 1,
         "the fastest of one night's recipes was rejected for its perplexity",
         "What is the perplexity or the score of this very file?", "llama-perplexity", quality},
    Rule{"F12", "build of engine and tool", true, false, 26.6 / 20.5,
         "a merge moved 20.5 to 26.6 tok/s", "Which commit of the engine, and what measured?",
         "llama-server --version", build},
    Rule{"F13", "bytes per pass against bandwidth", false, false, 1,
         "26.6 passes/s were a quarter of what the memory permits",
         "How many bytes does a pass read, and how fast is the memory?",
         "paceline roofline -m MODEL --bandwidth B", ceiling},
    Rule{"F14", "concurrency", false, false, 1.91 / 0.74,
         "a speed-up of 1.91 alone was 0.74 with four sequences",
         "How many sequences ran at once, and in batches of which shape?",
         "paceline run --url SERVER --concurrency", concurrency_fact},
    Rule{"F15", "power cap and clocks", false, false, 1.04, "heat alone is worth some 4 %",
         "Was there a power cap, and did the clocks fall?", "paceline machine", power},
    Rule{"F16", "output length and stop rule", false, false, 209.9 / 149.51,
         "149.5 tok/s over 512 tokens were 209.9 over 4096",
         "How long were the answers, and what ended them?", "paceline run -n", output},
    Rule{"F17", "prompts and launches", false, false, 3.0 / 1.875,
         "a line of a log said 3.0 times where the mean was 1.75 to 2",
         "How many prompts, fresh starts and even requests' worth of tokens (n_eff) stand behind "
         "it?",
         "paceline run --launches", sample},
};
static_assert(rules.size() == 17, "DEFINITIONS 11 has seventeen facts");

/// The bounds of tokens per pass say how far a missing one could move the passes per second.
std::string changes_of(const Rule& rule, const Rows& rows) {
  if (std::string_view(rule.fact) == "F5")
    for (const Worked& row : rows)
      if (row.has(tokens_per_pass) && !row.at(tokens_per_pass).value &&
          std::isfinite(row.at(tokens_per_pass).high))
        return fmt::format("here it is {}, and passes per second go with it",
                           shown(row.at(tokens_per_pass)));
  return rule.changes;
}

ClaimFact to_fact(const Rule& rule, std::string reason, const Rows& rows) {
  return {rule.fact,     rule.name,   std::move(reason), changes_of(rule, rows),
          rule.question, rule.command};
}

/// What our own documents say of a fact, one way or the other; nothing where there is none.
std::optional<std::string> own(const Rows& rows, const std::string& fact,
                               std::map<std::string, std::string> Row::*kind) {
  for (const Worked& row : rows)
    if (const auto found = (row.row.*kind).find(fact); found != (row.row.*kind).end())
      return found->second;
  return std::nullopt;
}

const Rule& rule_of(const std::string& fact) {
  return *std::find_if(rules.begin(), rules.end(),
                       [&](const Rule& rule) { return fact == rule.fact; });
}

/// By how much the fact could move passes per second here, or has moved a speed elsewhere.
double weight_of(const Rule& rule, const Rows& rows) {
  if (!rule.decides || std::string_view(rule.fact) == "F12") return rule.has_moved;
  double widest = 1;
  for (const Worked& row : rows) {
    if (!is_measured(row)) continue;
    if (!row.has(tokens_per_pass)) return std::numeric_limits<double>::infinity();
    widest = std::max(widest, row.at(tokens_per_pass).high / row.at(tokens_per_pass).low);
  }
  return widest;
}

void sort_by_weight(std::vector<ClaimFact>& missing, const Rows& rows) {
  std::stable_sort(missing.begin(), missing.end(), [&](const ClaimFact& a, const ClaimFact& b) {
    const Rule& one = rule_of(a.fact);
    const Rule& other = rule_of(b.fact);
    if (one.decides != other.decides) return one.decides;
    return weight_of(one, rows) > weight_of(other, rows);
  });
}

}  // namespace

document::ClaimFacts find_facts(const std::vector<Worked>& rows) {
  document::ClaimFacts facts;
  const bool only_plain =
      !rows.empty() &&
      std::all_of(rows.begin(), rows.end(), [](const Worked& row) { return is_plain(row.row); });
  for (const Rule& rule : rules) {
    auto applies_not = own(rows, rule.fact, &Row::own_not_applicable);
    if (!applies_not && rule.needs_drafter && only_plain) applies_not = "no arm speculates";
    const auto said = own(rows, rule.fact, &Row::own_facts);
    std::string reason = said ? *said : rule.missing(rows);
    if (applies_not && !said)
      facts.not_applicable.push_back(to_fact(rule, *applies_not, rows));
    else if (reason.empty())
      facts.known.emplace_back(rule.fact);
    else
      facts.missing.push_back(to_fact(rule, std::move(reason), rows));
  }
  sort_by_weight(facts.missing, rows);
  std::vector<document::MissingFact> missing;
  for (const ClaimFact& one : facts.missing) missing.push_back({one.fact, one.reason});
  facts.verdict = document::verdict_of(missing);
  return facts;
}

}  // namespace paceline::claim
