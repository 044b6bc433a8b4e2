#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "worker/llama/runtime.hpp"
#include "worker/session.hpp"

namespace {

/// A private way out for frames: what a library prints to stdout then lands in stderr.
int keep_frames_apart() {
  const int frames = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return frames;
}

int print_versions() {
  const auto versions = paceline::worker::loaded_versions();
  fmt::print("paceline-worker {}\nllama.cpp {} (build {}), ggml {}\n", PACELINE_VERSION,
             versions.llama, versions.build, versions.ggml);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--version") return print_versions();
  if (count > 1 || isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr,
               "paceline-worker is started by paceline, which talks to it over a pipe: run "
               "paceline instead.\n");
    return 2;
  }
  const int frames = keep_frames_apart();
  std::signal(SIGINT, SIG_IGN);  // the parent decides what an interrupt means
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("GGML_NO_BACKTRACE", "1", 1);  // an abort must not wait for a debugger
  return paceline::worker::Session(STDIN_FILENO, frames).run();
}
