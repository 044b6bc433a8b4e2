#include <csignal>
#include <cstdio>

#include "cli/program.hpp"
#include "util/console.hpp"
#include "util/interrupt.hpp"

int main(int argc, char** argv) {
  paceline::util::fill_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const auto command = paceline::cli::parse(argc, argv);
  if (!command.run) return command.exit_code;

  paceline::util::catch_interrupts();
  const auto exit_code = command.run();
  if (exit_code) return *exit_code;

  paceline::util::say("paceline: " + exit_code.error().message);
  return static_cast<int>(exit_code.error().kind);
}
