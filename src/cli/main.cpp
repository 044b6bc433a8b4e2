#include <csignal>
#include <cstdio>

#include "cli/program.hpp"
#include "util/interrupt.hpp"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto command = paceline::cli::parse(argc, argv);
  if (!command.run) return command.exit_code;

  paceline::util::catch_interrupts();
  const auto exit_code = command.run();
  if (exit_code) return *exit_code;

  std::fprintf(stderr, "paceline: %s\n", exit_code.error().message.c_str());
  return static_cast<int>(exit_code.error().kind);
}
