#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::engine::server {

/// What a llama-server is started with for an arm, its own name left out: one that listens on
/// loopback with `slots` slots of the arm's context each. The user's arguments stand last, where
/// they override ours. A longest draft of 0 is the block's of a DFlash drafter, as its file says
/// it, and else the server's own default.
std::vector<std::string> server_arguments(const trace::Setup& setup, int slots, std::uint16_t port);

/// Whether the user's arguments can stand behind ours: one that moves the server where it is not
/// looked for, or that puts a secret into the recorded command line, is refused. What is wrong is
/// said without the value.
util::Result<void> check_user_arguments(const std::vector<std::string>& arguments);

/// The command as a shell takes it, after those variables of `environment` that llama.cpp reads
/// its settings from (LLAMA_ARG_.., GGML_..); secrets are not among them.
std::string command_text(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment);

/// This process's own variables as NAME=VALUE.
std::vector<std::string> own_environment();

}  // namespace paceline::engine::server
