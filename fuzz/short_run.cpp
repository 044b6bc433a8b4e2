// What a fuzzer's program does in `make test`, without clang: every seed as it is, then copies with
// a few bytes changed, cut or put twice, the same ones each time. A fault ends it as it would end
// the fuzzer. `make fuzz` searches by coverage.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t most_runs = 20'000;
constexpr std::size_t most_bytes = 500'000'000;

const std::string* running = nullptr;

/// Keeps the input that a fault came of, where the program was started.
void keep_input(int signal) {
  std::ofstream("fault.bin", std::ios::binary) << *running;
  std::fprintf(stderr, "the input is in fault.bin\n");
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(const std::string& input) {
  running = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::vector<std::string> read_seeds(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

std::string spoiled(std::string text, std::mt19937& random) {
  const auto below = [&random](std::size_t size) { return size == 0 ? 0 : random() % size; };
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const auto seeds = argc == 2 ? read_seeds(argv[1]) : std::vector<std::string>();
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: %s FOLDER with seeds in it\n", argv[0]);
    return EXIT_FAILURE;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, keep_input);
  for (const auto& seed : seeds) run(seed);
  std::mt19937 random(1);
  std::size_t runs = 0;
  for (std::size_t bytes = 0; runs < most_runs && bytes < most_bytes; ++runs) {
    const std::string& seed = seeds[runs % seeds.size()];
    bytes += seed.size();
    run(spoiled(seed, random));
  }
  std::printf("%zu seeds and %zu copies: no fault\n", seeds.size(), runs);
  return EXIT_SUCCESS;
}
