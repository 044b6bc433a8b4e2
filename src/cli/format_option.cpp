#include "cli/format_option.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "report/llama_bench.hpp"

namespace paceline::cli {

namespace {

constexpr std::array<std::pair<const char*, std::string (*)(const document::Document&)>, 5>
    formats = {{{"report", nullptr},
                {"llama-bench-md", report::llama_bench_markdown},
                {"llama-bench-json", report::llama_bench_json},
                {"llama-bench-csv", report::llama_bench_csv},
                {"llama-bench-sql", report::llama_bench_sql}}};

}  // namespace

void add_format_option(CLI::App& command, Output& output) {
  std::vector<std::string> names;
  for (const auto& [name, render] : formats) names.emplace_back(name);
  command
      .add_option_function<std::string>(
          "--format",
          [&output](const std::string& asked) {
            for (const auto& [name, render] : formats)
              if (asked == name) output.render = render;
          },
          "What is printed: the report, or rows as llama-bench of llama.cpp prints them")
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT")
      ->default_str("report")
      ->group("Output");
}

}  // namespace paceline::cli
