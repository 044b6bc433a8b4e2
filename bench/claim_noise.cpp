// How long `paceline claim` takes for a megabyte that holds nothing: CPU time of reading and
// judging it, over made-up text of several kinds, the same in every turn.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "claim/judge.hpp"
#include "claim/text.hpp"
#include "metrics/arithmetic.hpp"

namespace {

constexpr std::size_t megabyte = 1 << 20;
constexpr int turns = 7;

std::string repeated(const std::string& piece) {
  std::string text;
  while (text.size() < megabyte) text += piece;
  return text;
}

std::string random_bytes() {
  std::mt19937 random(1);
  std::string text(megabyte, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

/// Words of the lines that readers know, in no order that any of them knows.
std::string random_words() {
  const std::vector<std::string> words = {"the", "speed", "draft", "accepted", "eval",   "time",
                                          "=",   "|",     "{",     "[",        "tokens", "12.5",
                                          "ms",  "/",     "rate",  "\n",       "\n"};
  std::mt19937 random(1);
  std::string text;
  while (text.size() < megabyte) text += words[random() % words.size()] + " ";
  return text;
}

double cpu_ms() { return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main() {
  const std::vector<std::pair<const char*, std::string>> kinds = {
      {"random bytes", random_bytes()},
      {"words of logs", random_words()},
      {"brackets that never close", repeated("{\n")},
      {"keys that never close", repeated("{\"a\":\n")},
      {"small objects", repeated("{\"a\":1}\n")},
      {"heads of tables", repeated("| model | tok/s |\n")},
      {"one line", repeated("a ")}};
  fmt::print("{:<28} {:>8}\n", "a megabyte of", "CPU ms");
  for (const auto& [name, text] : kinds) {
    std::vector<double> times;
    for (int turn = 0; turn < turns; ++turn) {
      const double begin = cpu_ms();
      paceline::claim::judge(paceline::claim::read_text(text, "noise"));
      times.push_back(cpu_ms() - begin);
    }
    fmt::print("{:<28} {:>8.1f}\n", name, paceline::metrics::median(times));
  }
  return 0;
}
