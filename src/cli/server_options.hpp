#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/server/server_engine.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// What the options say about servers; nothing at all: the embedded engine.
struct ServerSettings {
  std::optional<std::string> server_bin;
  std::vector<std::string> server_args;
  std::optional<std::string> mmproj;
  std::optional<std::string> url;
  std::optional<std::string> url_plain;
  std::optional<std::string> dialect;
  std::optional<std::string> model_name;
  std::optional<std::string> api_key_file;
  std::optional<std::string> ca_file;
  bool insecure = false;

  bool is_remote() const { return url || url_plain; }
  bool is_managed() const { return server_bin.has_value(); }
};

void add_server_options(CLI::App& command, ServerSettings& settings);

/// Refuses options that say nothing together.
util::Result<void> check_server_options(const ServerSettings& settings);

/// Arms of running servers: "plain" behind --url-plain, "server" behind --url.
std::vector<trace::Arm> remote_arms(const ServerSettings& settings,
                                    const trace::Sampling& sampling);

/// How servers are talked to; the key comes from PACELINE_API_KEY or the file that is named.
util::Result<engine::server::ServerOptions> server_options(const ServerSettings& settings,
                                                           int patience_s);

}  // namespace paceline::cli
