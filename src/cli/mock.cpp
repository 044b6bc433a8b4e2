#include "mock/mock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "util/console.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_mock =
    "A server for tests that speaks the dialect of a real one, knows the truth it was given and "
    "fails on demand. It takes llama-server's own options too and says which it ignores.";

struct MockOptions {
  mock::Options server;
  std::vector<std::string> faults;
  std::vector<std::string> rounds;
  double pass_ms = 0;
  double prompt_token_ms = 0;
  int eos_after = 0;
  int prompt_tokens = 0;
  int context = 4096;
  std::string spec_type;
  std::string model_file;
  std::string projector;
};

/// "OFFERED/ACCEPTED" or "OFFERED/ACCEPTED/REPLAYS"; "-" is a pass without a draft.
util::Result<mock::Round> parse_round(const std::string& text) {
  mock::Round round;
  if (text == "-") return round;
  int used = 0;
  const int read = std::sscanf(text.c_str(), "%d/%d%n/%d%n", &round.offered, &round.accepted, &used,
                               &round.replays, &used);
  if (read < 2 || used != static_cast<int>(text.size()) || round.accepted > round.offered)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("--round {}: write OFFERED/ACCEPTED[/REPLAYS] or -", text));
  return round;
}

util::Result<mock::Options> finished(const MockOptions& given) {
  mock::Options options = given.server;
  mock::Truth& truth = options.truth;
  truth.seconds_per_pass = given.pass_ms / 1e3;
  truth.seconds_per_prompt_token = given.prompt_token_ms / 1e3;
  if (given.eos_after > 0) truth.eos_after = given.eos_after;
  if (given.prompt_tokens > 0) truth.prompt_tokens = given.prompt_tokens;
  if (!given.model_file.empty()) {
    // Without an alias llama-server calls a model by the path it was given.
    truth.model = truth.model_path = given.model_file;
  }
  truth.takes_images = !given.projector.empty();
  truth.context_per_slot = std::max(given.context / std::max(truth.slots, 1), 1);
  if (!given.spec_type.empty() && given.spec_type != "none") {
    truth.speculates = true;
    truth.spec_type = given.spec_type;
  }
  // Only llama.cpp and what is built on it keep a draft inside the limit.
  truth.draft_capped = options.dialect == "llama-server" || options.dialect == "ik_llama.cpp" ||
                       options.dialect == "ollama" || options.dialect == "lm-studio";
  for (const std::string& text : given.faults) {
    PACELINE_TRY_ASSIGN(const mock::Fault fault, mock::parse_fault(text));
    options.faults.push_back(fault);
  }
  for (const std::string& text : given.rounds) {
    PACELINE_TRY_ASSIGN(const mock::Round round, parse_round(text));
    truth.rounds.push_back(round);
  }
  return options;
}

util::Result<int> serve(const MockOptions& given, const std::vector<std::string>& ignored) {
  if (!ignored.empty())
    util::say(fmt::format("paceline mock: ignored {}", fmt::join(ignored, " ")));
  PACELINE_TRY_ASSIGN(mock::Options options, finished(given));
  PACELINE_TRY_ASSIGN(const auto server, mock::Mock::listen(std::move(options)));
  util::write_all(stdout, fmt::format("listening on {}\n", server->url()));
  server->run(util::interrupt_descriptor());
  return 0;
}

void add_truth(CLI::App& command, MockOptions& options) {
  mock::Truth& truth = options.server.truth;
  command.add_option("--pass-ms", options.pass_ms, "Time of a pass; 0: as fast as it can")
      ->type_name("MS")
      ->capture_default_str();
  command.add_option("--prompt-token-ms", options.prompt_token_ms, "Time of a prompt token")
      ->type_name("MS")
      ->capture_default_str();
  command.add_option("--prompt-tokens", options.prompt_tokens, "Tokens of every prompt")
      ->type_name("TOKENS")
      ->default_str("one per four bytes");
  command.add_option("--cached-tokens", truth.cached_tokens, "Of these, from the cache")
      ->type_name("TOKENS")
      ->capture_default_str();
  command.add_option("--eos-after", options.eos_after, "Output tokens, the end token included")
      ->type_name("TOKENS")
      ->default_str("never");
  command
      .add_option("--acceptance", truth.acceptance, "Chance of each position, given those before")
      ->delimiter(',')
      ->type_name("SHARE")
      ->capture_default_str();
  command.add_option("--fire-rate", truth.fire_rate, "Share of passes that have a draft")
      ->type_name("SHARE")
      ->capture_default_str();
  command.add_option("--round", options.rounds, "OFFERED/ACCEPTED[/REPLAYS] of each pass, or -")
      ->delimiter(',')
      ->type_name("ROUND")
      ->default_str("by chance");
  command.add_flag("--replays", truth.replays, "A partial acceptance costs one more pass");
  command.add_flag("--shared-forwards", truth.shared_forwards, "Slots share their forwards");
  command.add_option("--split-every", truth.split_every, "A character of two tokens so often")
      ->type_name("TOKENS")
      ->capture_default_str();
  command.add_option("--reasoning-tokens", truth.reasoning_tokens, "Of a chat's output")
      ->type_name("TOKENS")
      ->capture_default_str();
  command.add_option("--mock-seed", truth.seed, "Of text and acceptance")
      ->type_name("NUMBER")
      ->capture_default_str();
  command.add_option("--build", truth.build, "Build id it says")
      ->type_name("ID")
      ->capture_default_str();
}

/// llama-server's names for what the mock knows too.
void add_llama_names(CLI::App& command, MockOptions& options) {
  mock::Truth& truth = options.server.truth;
  command.add_option("-m,--model", options.model_file, "Model that it says it has loaded")
      ->type_name("FILE")
      ->default_str("/models/mock-model.gguf");
  command.add_option("--mmproj", options.projector, "Takes images, as if by this")
      ->type_name("FILE")
      ->default_str("takes none");
  command.add_option("-c,--ctx-size", options.context, "Context of all slots together")
      ->type_name("TOKENS")
      ->capture_default_str();
  command.add_option("--np,--parallel", truth.slots, "Sequences at once")
      ->type_name("SLOTS")
      ->capture_default_str();
  command.add_option("-b,--batch-size", truth.prompt_batch, "Prompt tokens of one decode call")
      ->type_name("TOKENS")
      ->capture_default_str();
  command.add_option("--spec-type", options.spec_type, "Speculates as this")
      ->type_name("TYPE")
      ->default_str("none");
  command.add_option("--spec-draft-n-max", truth.draft_length, "Longest draft")
      ->type_name("TOKENS")
      ->capture_default_str();
  command.add_option("--host", options.server.host, "Address to listen on")
      ->type_name("ADDRESS")
      ->capture_default_str();
}

}  // namespace

bool imitates_a_server(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "mock";
}

std::vector<std::string> mock_arguments_reversed(int argc, char** argv) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    std::string word = argv[i];
    if (word.size() > 2 && word[0] == '-' && is_letter(word[1]) && is_letter(word[2]))
      word.insert(0, "-");
    arguments.push_back(std::move(word));
  }
  return arguments;
}

void add_mock(CLI::App& app, Action& action) {
  const auto options = std::make_shared<MockOptions>();
  CLI::App* command = app.add_subcommand("mock", about_mock);
  command->group("");
  command->allow_extras();
  command->add_option("--dialect", options->server.dialect, "Kind of server")
      ->check(CLI::IsMember(mock::renderer_names()))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--port", options->server.port, "Port; 0: any free one")
      ->type_name("PORT")
      ->capture_default_str();
  command->add_option("--fault", options->faults, "KIND[:VALUE][@N or @N+], as in cut:5@2")
      ->type_name("FAULT")
      ->default_str("none");
  add_truth(*command, *options);
  add_llama_names(*command, *options);
  command->footer("Example:\n  paceline mock --port 8080 --spec-type draft-mtp --pass-ms 20");
  command->callback([options, command, &action] {
    action = [options, ignored = command->remaining()] { return serve(*options, ignored); };
  });
}

}  // namespace paceline::cli
