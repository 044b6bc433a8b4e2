#include "cli/engine_options.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "trace/names.hpp"

namespace paceline::cli {

namespace {

using trace::SpecType;

constexpr const char* engine_group = "Engine";
constexpr const char* sampling_group = "Sampling";

/// As CLI::Range, which lets "nan" through.
CLI::Validator finite_between(double low, double high) {
  return {
      [low, high](std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return good ? std::string() : fmt::format("{} is not between {} and {}", text, low, high);
      },
      fmt::format("in [{} - {}]", low, high)};
}

CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? "the value is empty" : std::string(); },
          ""};
}

std::vector<std::string> drafting_types() {
  std::vector<std::string> names;
  for (const auto& [type, name] : util::EnumNames<SpecType>::table)
    if (type != SpecType::none && type != SpecType::undeclared) names.emplace_back(name);
  return names;
}

/// The sizes of the types that look n-grams up in a map of them.
void add_map_sizes(CLI::App& command, const std::string& prefix, trace::NgramSizes& sizes) {
  command.add_option(prefix + "-size-n", sizes.size_n, "Tokens that are looked up in the text")
      ->check(CLI::Range(1, most_ngram_size))
      ->type_name("TOKENS")
      ->default_str("12")
      ->group(engine_group);
  command.add_option(prefix + "-size-m", sizes.size_m, "Longest draft")
      ->check(CLI::Range(1, most_ngram_size))
      ->type_name("TOKENS")
      ->default_str("48")
      ->group(engine_group);
  command
      .add_option(prefix + "-min-hits", sizes.min_hits,
                  "Times seen before it drafts; llama.cpp v0.5.0 uses it for ngram-map-k4v alone")
      ->check(CLI::Range(1, 65535))
      ->type_name("TIMES")
      ->default_str("1")
      ->group(engine_group);
}

void add_mod_sizes(CLI::App& command, trace::NgramSizes& sizes) {
  command
      .add_option("--spec-ngram-mod-n-match", sizes.size_n,
                  "Tokens that are looked up in a table; llama.cpp warns of poor drafts under 16")
      ->check(CLI::Range(1, most_ngram_size))
      ->type_name("TOKENS")
      ->default_str("24")
      ->group(engine_group);
  command.add_option("--spec-ngram-mod-n-min", sizes.n_min, "Shortest draft")
      ->check(CLI::Range(0, most_ngram_size))
      ->type_name("TOKENS")
      ->default_str("48")
      ->group(engine_group);
  command.add_option("--spec-ngram-mod-n-max", sizes.size_m, "Longest draft")
      ->check(CLI::Range(1, most_ngram_size))
      ->type_name("TOKENS")
      ->default_str("64")
      ->group(engine_group);
}

/// One number of the sampler, whose default says where it comes from when nobody asks.
template <class Number>
void add_number(CLI::App& command, const char* names, std::optional<Number>& value,
                const char* description, const char* unit, const CLI::Validator& valid,
                const std::string& fallback) {
  command.add_option(names, value, description)
      ->check(valid)
      ->type_name(unit)
      ->default_str(fallback)
      ->group(sampling_group);
}

void add_filters(CLI::App& command, trace::Sampling& sampling) {
  const std::string file_else = "the model's file, else ";
  add_number(command, "--temp,--temperature", sampling.temp, "Temperature; 0 is greedy", "NUMBER",
             finite_between(0, 100), file_else + fmt::format("{}", default_temperature));
  add_number(command, "--top-k", sampling.top_k, "Keep the k likeliest tokens; 0 is off", "TOKENS",
             CLI::Range(0, 1 << 24), file_else + "llama.cpp's 40");
  add_number(command, "--top-p", sampling.top_p, "Nucleus; 1 is off", "SHARE", finite_between(0, 1),
             file_else + "llama.cpp's 0.95");
  add_number(command, "--min-p", sampling.min_p, "Least share of the likeliest; 0 is off", "SHARE",
             finite_between(0, 1), file_else + "llama.cpp's 0.05");
  add_number(command, "--typical,--typical-p", sampling.typical_p, "Locally typical; 1 is off",
             "SHARE", finite_between(0, 1), "llama.cpp's 1");
  add_number(command, "--top-nsigma,--top-n-sigma", sampling.top_n_sigma,
             "Keep logits so many deviations below the largest; -1 is off", "DEVIATIONS",
             finite_between(-1, 1000), "llama.cpp's -1");
  add_number(command, "--xtc-probability", sampling.xtc_probability,
             "How often likely tokens are taken out; 0 is off", "SHARE", finite_between(0, 1),
             file_else + "llama.cpp's 0");
  add_number(command, "--xtc-threshold", sampling.xtc_threshold,
             "What counts as likely for it; above 0.5 it is off", "SHARE", finite_between(0, 1),
             file_else + "llama.cpp's 0.1");
}

void add_penalties(CLI::App& command, trace::Sampling& sampling) {
  const std::string file_else = "the model's file, else ";
  add_number(command, "--repeat-last-n", sampling.penalty_last_n,
             "Tokens that penalties look back over; 0 is off", "TOKENS", CLI::Range(0, 1 << 20),
             file_else + "llama.cpp's 64");
  add_number(command, "--repeat-penalty", sampling.penalty_repeat,
             "Divides the logits of seen tokens; 1 is off", "NUMBER", finite_between(0.001, 1000),
             file_else + "llama.cpp's 1");
  add_number(command, "--presence-penalty", sampling.penalty_present,
             "Taken from the logits of seen tokens; 0 is off", "NUMBER",
             finite_between(-1000, 1000), "llama.cpp's 0");
  add_number(command, "--frequency-penalty", sampling.penalty_freq,
             "The same for each time they were seen; 0 is off", "NUMBER",
             finite_between(-1000, 1000), "llama.cpp's 0");
}

void add_model_options(CLI::App& command, ArmSettings& arms) {
  command.add_option("-m,--model", arms.model, "Target model (GGUF)")
      ->check(not_empty())
      ->type_name("FILE")
      ->default_str("required without --url")
      ->group(engine_group);
  command.add_option("--model-draft", arms.draft_model, "Drafter's file (GGUF)")
      ->check(not_empty())
      ->type_name("FILE")
      ->default_str("none")
      ->group(engine_group);
}

void add_forced_options(CLI::App& command, ArmSettings& arms) {
  command
      .add_option("--accept-length", arms.accept_length,
                  "Accept drafted tokens by chance, so many tokens in the mean of a pass with a "
                  "full draft (the target's own included): times a machine at a known acceptance. "
                  "The text means nothing then")
      ->check(CLI::Range(1, most_ngram_size + 1))
      ->type_name("TOKENS")
      ->default_str("the target decides")
      ->group(engine_group);
  command
      .add_option("--accept-rates", arms.accept_rates,
                  "The same by place: the share of full drafts accepted up to the 1st, 2nd, .. "
                  "token, as in 0.9,0.7,0.5")
      ->delimiter(',')
      ->check(finite_between(0, 1))
      ->type_name("SHARES")
      ->default_str("none")
      ->group(engine_group);
  command
      .add_option_function<std::string>(
          "--accept-schedule",
          [&arms](const std::string& name) {
            arms.accept_schedule = util::enum_from_name<trace::AcceptSchedule>(name);
          },
          "How --accept-length is spread: the same chance at each place, or as nearly the same "
          "number in each draft as can be")
      ->check(CLI::IsMember({"geometric", "minimum-variance"}))
      ->type_name("SCHEDULE")
      ->default_str("geometric")
      ->group(engine_group);
}

void add_drafting_options(CLI::App& command, ArmSettings& arms) {
  command
      .add_option(
          "--spec-type", arms.spec_types,
          "How drafts are made; several with commas are asked in llama.cpp's order, n-grams "
          "first, until one drafts")
      ->delimiter(',')
      ->check(CLI::IsMember(drafting_types()))
      ->type_name("TYPE[,..]")
      ->default_str("what -md's file is, else none")
      ->group(engine_group);
  command.add_option("--spec-draft-n-max", arms.draft_n_max, "Longest draft of a drafter model")
      ->check(CLI::Range(1, 64))
      ->type_name("TOKENS")
      ->default_str("the longest that the drafter's block allows, else 3")
      ->group(engine_group);
  command
      .add_option("--spec-draft-p-min", arms.draft_p_min,
                  "A draft ends before the first token that its drafter model gives less")
      ->check(finite_between(0, 1))
      ->type_name("SHARE")
      ->default_str("llama.cpp's 0")
      ->group(engine_group);
  for (const SpecType type :
       {SpecType::ngram_simple, SpecType::ngram_map_k, SpecType::ngram_map_k4v})
    add_map_sizes(command, fmt::format("--spec-{}", util::enum_name(type)), arms.ngram[type]);
  add_mod_sizes(command, arms.ngram[SpecType::ngram_mod]);
  command
      .add_option("--arm", arms.extra,
                  "One more arm: TYPE[:N[:FILE]] as in draft-dflash:6 or draft-simple:3:FILE, of "
                  "n-grams TYPE[:SIZES] as in ngram-simple:4/7 or ngram-mod:24/48/64; several "
                  "drafters in one arm as in ngram-simple:4/7+draft-mtp:3")
      ->type_name("ARM")
      ->default_str("none")
      ->group(engine_group);
  command
      .add_option_function<std::string>(
          "--backend-sampling",
          [&arms](const std::string& text) {
            arms.backend_sampling = text == "on"    ? BackendSampling::on
                                    : text == "off" ? BackendSampling::off
                                                    : BackendSampling::both;
          },
          "Pick the draft tokens of draft-mtp, -dflash, -dspark and -eagle3 on the device, on the "
          "host, or measure an arm of each")
      ->check(CLI::IsMember({"on", "off", "both"}))
      ->type_name("WHERE")
      ->default_str("on, as llama.cpp has it")
      ->group(engine_group);
  command
      .add_flag("--no-plain", arms.no_plain, "Leave the plain arm out: there are no speed-ups then")
      ->group(engine_group);
}

/// One list of types; each with each of the others' is an arm.
void add_kv_option(CLI::App& command, const char* name, std::vector<std::string>& types,
                   const char* of) {
  command
      .add_option(name, types,
                  fmt::format("Type of the {}; several with commas are an arm each, with every "
                              "type of the other caches",
                              of))
      ->delimiter(',')
      ->check(CLI::IsMember(
          std::vector<std::string>(trace::kv_cache_types.begin(), trace::kv_cache_types.end())))
      ->type_name("TYPE[,..]")
      ->default_str("f16, as llama.cpp has it")
      ->group(engine_group);
}

void add_kv_options(CLI::App& command, ArmSettings& arms) {
  add_kv_option(command, "--cache-type-k", arms.kv_k, "target's K cache");
  add_kv_option(command, "--cache-type-v", arms.kv_v, "target's V cache");
  add_kv_option(command, "--spec-draft-type-k", arms.draft_kv_k, "drafter's K cache");
  add_kv_option(command, "--spec-draft-type-v", arms.draft_kv_v, "drafter's V cache");
}

}  // namespace

void add_engine_options(CLI::App& command, ArmSettings& arms) {
  add_model_options(command, arms);
  add_drafting_options(command, arms);
  add_forced_options(command, arms);
  add_kv_options(command, arms);
  command.add_option("-c,--ctx-size", arms.n_ctx, "Context to allocate")
      ->check(CLI::Range(16, 1 << 30))
      ->type_name("TOKENS")
      ->capture_default_str()
      ->group(engine_group);
  command.add_option("-t,--threads", arms.threads, "CPU threads of the engine")
      ->check(CLI::Range(1, 1024))
      ->type_name("THREADS")
      ->default_str("all cores but one")
      ->group(engine_group);
}

void add_sampling_options(CLI::App& command, trace::Sampling& sampling) {
  add_filters(command, sampling);
  add_penalties(command, sampling);
  command
      .add_option(
          "--samplers", sampling.samplers,
          "Samplers in their order, names separated by ;, as in \"top_k;min_p;temperature\"")
      ->check(not_empty())
      ->type_name("NAMES")
      ->default_str("the model's file, else llama.cpp's chain")
      ->group(sampling_group);
}

}  // namespace paceline::cli
