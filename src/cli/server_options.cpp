#include "cli/server_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/arms.hpp"
#include "dialect/dialect.hpp"
#include "net/url.hpp"
#include "util/files.hpp"

namespace paceline::cli {

namespace {

constexpr const char* group = "Server";
constexpr const char* key_variable = "PACELINE_API_KEY";
constexpr std::size_t longest_key = 8192;

std::vector<std::string> dialect_names() {
  std::vector<std::string> names;
  for (const auto& one : dialect::all()) names.emplace_back(one->name());
  return names;
}

void add_which_server(CLI::App& command, ServerSettings& settings) {
  command
      .add_option("--server-bin", settings.server_bin,
                  "Measure this llama-server, started once an arm and launch on loopback, in "
                  "place of the embedded engine")
      ->type_name("FILE")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--server-arg", settings.server_args,
                  "One more argument for it, as in --server-arg=-ngl --server-arg=99; may be "
                  "given often")
      ->type_name("ARGUMENT")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--mmproj", settings.mmproj,
                  "The model's vision projector: loaded beside it, and one image prompt passes "
                  "through both before anything is measured; a started server takes images with it")
      ->type_name("FILE")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--url", settings.url,
                  "Measure the server that runs there, as http://HOST:PORT, with whatever it does")
      ->type_name("URL")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--url-plain", settings.url_plain,
                  "The same model without speculation, served there: the denominator of speed-ups")
      ->type_name("URL")
      ->default_str("none")
      ->group(group);
}

void add_talking(CLI::App& command, ServerSettings& settings) {
  command.add_option("--dialect", settings.dialect, "What kind of server it is")
      ->check(CLI::IsMember(dialect_names()))
      ->type_name("NAME")
      ->default_str("found by asking it")
      ->group(group);
  command.add_option("--model-name", settings.model_name, "The model's name as the server has it")
      ->type_name("NAME")
      ->default_str("the first that it lists")
      ->group(group);
  command
      .add_option("--api-key-file", settings.api_key_file,
                  "File that holds the server's key and nothing else; it is never shown or stored")
      ->type_name("FILE")
      ->default_str(std::string("the environment's ") + key_variable)
      ->group(group);
  command.add_option("--cacert", settings.ca_file, "Certificates that https is verified with, PEM")
      ->type_name("FILE")
      ->default_str("the system's")
      ->group(group);
  command.add_flag("--insecure", settings.insecure, "Verify no certificate")->group(group);
}

trace::Arm remote_arm(std::string name, const std::string& url, trace::SpecType type,
                      const trace::Sampling& sampling) {
  trace::Arm arm;
  arm.name = std::move(name);
  arm.setup.url = url;
  arm.setup.spec_type = type;
  arm.setup.threads = 0;
  arm.setup.n_ctx = 0;
  arm.sampling = sampling;
  arm.sampling.tool_temp = default_temperature;
  return arm;
}

bool is_key(const std::string& text) {
  return !text.empty() && text.size() <= longest_key &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// The key, without a word of it in any message.
util::Result<std::string> read_key(const ServerSettings& settings) {
  std::string key;
  std::string source = key_variable;
  if (settings.api_key_file) {
    PACELINE_TRY_ASSIGN(key, util::read_file(*settings.api_key_file));
    source = "'" + *settings.api_key_file + "'";
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
  } else if (const char* value = std::getenv(key_variable); value != nullptr && *value != '\0') {
    key = value;
  } else {
    return key;
  }
  if (!is_key(key))
    return util::fail(util::ErrorKind::usage,
                      source + " holds no key: one line of printable characters without spaces");
  return key;
}

}  // namespace

void add_server_options(CLI::App& command, ServerSettings& settings) {
  add_which_server(command, settings);
  add_talking(command, settings);
}

util::Result<void> check_server_options(const ServerSettings& settings) {
  const auto misused = [](const char* message) {
    return util::fail(util::ErrorKind::usage, message);
  };
  if (settings.is_managed() && settings.is_remote())
    return misused("--server-bin starts a server and --url names a running one: give one of them");
  if (settings.url_plain && !settings.url)
    return misused("--url-plain is what --url is compared with: add --url, or use --url alone");
  if (!settings.server_args.empty() && !settings.is_managed())
    return misused("--server-arg is for a server that is started: add --server-bin FILE");
  if (settings.mmproj && settings.is_remote())
    return misused("--mmproj is loaded with a model, and the server of --url runs: leave it out");
  const bool talks = settings.dialect || settings.model_name || settings.api_key_file ||
                     settings.ca_file || settings.insecure;
  if (talks && !settings.is_managed() && !settings.is_remote())
    return misused("options of servers are given and no server: add --url or --server-bin");
  for (const auto& url : {settings.url, settings.url_plain})
    if (url) PACELINE_TRY(net::parse_url(*url));
  if (settings.ca_file && settings.insecure)
    return misused("--cacert verifies and --insecure does not: give one of them");
  return {};
}

std::vector<trace::Arm> remote_arms(const ServerSettings& settings,
                                    const trace::Sampling& sampling) {
  std::vector<trace::Arm> arms;
  if (settings.url_plain)
    arms.push_back(
        remote_arm(trace::plain_arm, *settings.url_plain, trace::SpecType::none, sampling));
  arms.push_back(remote_arm("server", *settings.url, trace::SpecType::undeclared, sampling));
  return arms;
}

util::Result<engine::server::ServerOptions> server_options(const ServerSettings& settings,
                                                           int patience_s) {
  engine::server::ServerOptions options;
  options.dialect = settings.dialect.value_or("");
  options.model = settings.model_name.value_or("");
  options.client.insecure = settings.insecure;
  options.client.ca_file = settings.ca_file.value_or("");
  options.client.timeouts.first_byte = options.client.timeouts.idle =
      std::chrono::seconds(patience_s);
  PACELINE_TRY_ASSIGN(options.api_key, read_key(settings));
  return options;
}

}  // namespace paceline::cli
