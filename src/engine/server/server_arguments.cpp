#include "engine/server/server_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "model/drafter.hpp"
#include "model/gguf.hpp"
#include "trace/names.hpp"

namespace paceline::engine::server {

namespace {

using trace::SpecType;

/// As many as a block drafter makes at once; nothing when its file cannot be read: the server will
/// say why.
std::optional<std::int64_t> longest_of_block(const trace::Setup& setup) {
  const bool in_blocks =
      setup.spec_type == SpecType::draft_dflash || setup.spec_type == SpecType::draft_dspark;
  if (!in_blocks || !setup.draft_path) return std::nullopt;
  const auto drafter = model::Gguf::open(*setup.draft_path);
  if (!drafter) return std::nullopt;
  const std::int64_t longest = model::block_of(*drafter).longest_draft;
  return longest > 0 ? std::optional(longest) : std::nullopt;
}

std::optional<std::int64_t> longest_draft(const trace::Setup& setup) {
  if (setup.draft_n_max > 0) return setup.draft_n_max;
  return longest_of_block(setup);
}

class Arguments {
 public:
  void add(std::string name, std::string value) {
    list_.push_back(std::move(name));
    list_.push_back(std::move(value));
  }
  void add_size(const std::string& name, const std::optional<int>& value) {
    if (value) add(name, std::to_string(*value));
  }
  std::vector<std::string>& list() { return list_; }

 private:
  std::vector<std::string> list_;
};

void add_ngram_sizes(SpecType type, const trace::NgramSizes& sizes, Arguments& arguments) {
  const std::string prefix = fmt::format("--spec-{}-", util::enum_name(type));
  const bool mod = type == SpecType::ngram_mod;
  arguments.add_size(prefix + (mod ? "n-match" : "size-n"), sizes.size_n);
  arguments.add_size(prefix + (mod ? "n-max" : "size-m"), sizes.size_m);
  arguments.add_size(prefix + "min-hits", sizes.min_hits);
  arguments.add_size(prefix + "n-min", sizes.n_min);
}

void add_drafting(const trace::Setup& setup, Arguments& arguments) {
  if (setup.draft_path) arguments.add("-md", *setup.draft_path);
  if (setup.spec_type == SpecType::none) return;
  arguments.add("--spec-type", trace::spec_types_text(setup));
  for (const auto& [type, sizes] : setup.asked_first) add_ngram_sizes(type, sizes, arguments);
  if (trace::is_ngram(setup.spec_type))
    add_ngram_sizes(setup.spec_type, setup.ngram, arguments);
  else if (const auto longest = longest_draft(setup))
    arguments.add("--spec-draft-n-max", std::to_string(*longest));
  if (setup.draft_p_min > 0)
    arguments.add("--spec-draft-p-min", fmt::format("{}", setup.draft_p_min));
  if (!setup.backend_sampling) arguments.list().emplace_back("--no-spec-draft-backend-sampling");
}

void add_kv_types(const trace::Setup& setup, Arguments& arguments) {
  if (setup.kv.k) arguments.add("-ctk", *setup.kv.k);
  if (setup.kv.v) arguments.add("-ctv", *setup.kv.v);
  if (setup.draft_kv.k) arguments.add("-ctkd", *setup.draft_kv.k);
  if (setup.draft_kv.v) arguments.add("-ctvd", *setup.draft_kv.v);
}

void add_forced(const trace::Setup& setup, Arguments& arguments) {
  if (!setup.forced) return;
  if (setup.forced->length)
    arguments.add("--spec-synth-len", fmt::format("{}", *setup.forced->length));
  else
    arguments.add("--spec-synth-rates", fmt::format("{}", fmt::join(setup.forced->rates, ",")));
}

struct Forbidden {
  std::string_view name;
  std::string_view instead;
};

constexpr std::string_view own_address =
    "a server that is started for a run listens where it is looked for; leave it out";
constexpr std::string_view own_scheme =
    "a server that is started for a run is spoken to in the clear, on this machine only; leave it "
    "out, or start the server yourself and name it with --url";

constexpr std::string_view own_option =
    "the report would not know of it: give it to paceline, whose option has the same name";

constexpr std::string_view own_kv_option =
    "the report would not know of it: give paceline --spec-draft-type-k, --spec-draft-type-v";

constexpr std::string_view own_backend_sampling =
    "the report would not know of it: give paceline --backend-sampling";

constexpr std::array<Forbidden, 35> forbidden{{
    {"--api-key", "it would be recorded; set LLAMA_API_KEY instead, or --api-key-file"},
    {"--hf-token", "it would be recorded; set HF_TOKEN instead"},
    {"-hft", "it would be recorded; set HF_TOKEN instead"},
    {"--host", own_address},
    {"--port", own_address},
    {"--api-prefix", own_address},
    {"--ssl-key-file", own_scheme},
    {"--ssl-cert-file", own_scheme},
    {"-m", own_option},
    {"--model", own_option},
    {"-md", own_option},
    {"--model-draft", own_option},
    {"-t", own_option},
    {"--threads", own_option},
    {"-c", own_option},
    {"--ctx-size", own_option},
    {"-ctk", own_option},
    {"--cache-type-k", own_option},
    {"-ctv", own_option},
    {"--cache-type-v", own_option},
    {"-ctkd", own_kv_option},
    {"--cache-type-k-draft", own_kv_option},
    {"--spec-draft-type-k", own_option},
    {"-ctvd", own_kv_option},
    {"--cache-type-v-draft", own_kv_option},
    {"--spec-draft-type-v", own_option},
    {"--spec-type", own_option},
    {"--spec-draft-n-max", own_option},
    {"--spec-draft-p-min", own_option},
    {"--spec-draft-backend-sampling", own_backend_sampling},
    {"--no-spec-draft-backend-sampling", own_backend_sampling},
    {"-np", "--concurrency decides how many requests it takes at once"},
    {"--parallel", "--concurrency decides how many requests it takes at once"},
    {"--temp", own_option},
    {"--samplers", own_option},
}};

bool is_safe(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') ||
         std::string_view("-_./:,=+@%").find(byte) != std::string_view::npos;
}

std::string quoted(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_safe)) return text;
  std::string result = "'";
  for (const char byte : text) {
    if (byte == '\'')
      result += "'\\''";
    else
      result += byte;
  }
  return result + "'";
}

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool is_setting(const std::string& variable) {
  const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
  const bool secret =
      name.find("KEY") != std::string_view::npos || name.find("TOKEN") != std::string_view::npos;
  return !secret && (begins(name, "LLAMA_ARG_") || begins(name, "GGML_"));
}

}  // namespace

std::vector<std::string> server_arguments(const trace::Setup& setup, int slots,
                                          std::uint16_t port) {
  Arguments arguments;
  arguments.add("-m", setup.model_path);
  add_drafting(setup, arguments);
  add_forced(setup, arguments);
  add_kv_types(setup, arguments);
  arguments.add("-c", std::to_string(static_cast<long>(setup.n_ctx) * slots));
  arguments.add("-t", std::to_string(setup.threads));
  arguments.add("-np", std::to_string(slots));
  arguments.add("--host", "127.0.0.1");
  arguments.add("--port", std::to_string(port));
  auto list = std::move(arguments.list());
  list.emplace_back("--metrics");
  list.insert(list.end(), setup.server_args.begin(), setup.server_args.end());
  return list;
}

util::Result<void> check_user_arguments(const std::vector<std::string>& arguments) {
  for (const auto& argument : arguments) {
    const std::string_view name = std::string_view(argument).substr(0, argument.find('='));
    for (const auto& [unwanted, instead] : forbidden)
      if (name == unwanted)
        return util::fail(
            util::ErrorKind::usage,
            fmt::format("{} cannot be among the server's arguments: {}.", unwanted, instead));
  }
  return {};
}

std::string command_text(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment) {
  std::string text;
  for (const auto& variable : environment) {
    if (!is_setting(variable)) continue;
    const std::size_t equals = variable.find('=') + 1;
    text += variable.substr(0, equals) + quoted(variable.substr(equals)) + " ";
  }
  for (const auto& word : command) text += quoted(word) + " ";
  if (!text.empty()) text.pop_back();
  return text;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  std::sort(variables.begin(), variables.end());
  return variables;
}

}  // namespace paceline::engine::server
