#include "support/server_run.hpp"

#include <gtest/gtest.h>

#include "util/files.hpp"

namespace paceline::support {

mock::Options known_server(const std::string& dialect, double seconds_per_pass,
                           const std::vector<std::string>& faults) {
  mock::Options options;
  options.dialect = dialect;
  options.truth.speculates = true;
  options.truth.rounds = {{3, 2, 0}, {0, 0, 0}, {3, 3, 0}};
  options.truth.seconds_per_pass = seconds_per_pass;
  // As `paceline mock` has it: what is built on llama.cpp keeps drafts inside the limit.
  options.truth.draft_capped = dialect == "llama-server" || dialect == "ik_llama.cpp" ||
                               dialect == "ollama" || dialect == "lm-studio";
  for (const auto& fault : faults) options.faults.push_back(mock::parse_fault(fault).value());
  return options;
}

Ended ServerRun::on(const MockServer& server, std::vector<std::string> more) const {
  more.insert(more.begin(), {"--url", server.url()});
  return with(std::move(more));
}

Ended ServerRun::with(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"run", "--class", "json", "--prompts", "2", "-n", "16",
                                       "--launches", std::to_string(launches_), "--json",
                                       path("report.json"), "--trace", path("trace.jsonl")});
  return run_program(home(), arguments);
}

util::Json ServerRun::document() const {
  const auto text = util::read_file(path("report.json"));
  EXPECT_TRUE(text) << "there is no document";
  const auto json = util::parse_json(text.value_or(""), "the document");
  EXPECT_TRUE(json) << json.error().message;
  return json.value_or(util::Json::object());
}

std::string ServerRun::trace_text() const {
  return util::read_file(path("trace.jsonl")).value_or("");
}

std::string ServerRun::warnings(const std::string& kind) const {
  std::string text;
  const util::Json all = document();
  for (const auto& warning : all.at("warnings"))
    if (warning.at("kind") == kind) text += warning.at("text").get<std::string>() + "\n";
  return text;
}

util::Json workload_of(const util::Json& document, std::size_t arm) {
  return document.at("arms").at(arm).at("workloads").at(0);
}

}  // namespace paceline::support
