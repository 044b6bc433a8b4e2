#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_file.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline::support {

/// Runs of `paceline run` in a folder of their own.
class MeasuringTest : public ::testing::Test {
 protected:
  std::string home() const { return folder_.path().string(); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  Ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return run_program(home(), arguments);
  }

  util::Json document(const std::string& name = "report.json") const {
    const auto text = util::read_file(path(name));
    EXPECT_TRUE(text) << text.error().message;
    const auto json = util::parse_json(text.value_or(""), name);
    EXPECT_TRUE(json) << json.error().message;
    return json.value_or(util::Json::object());
  }

  /// Waits until the trace holds that many measured requests; false when it never does.
  static bool wait_for_requests(const std::string& trace_path, int wanted) {
    for (int i = 0; i < 20'000; ++i) {
      const auto trace = trace::read_trace(util::read_file(trace_path).value_or(""));
      int measured = 0;
      if (trace)
        for (const auto& launch : trace->launches)
          for (const auto& request : launch.requests) measured += request.warm_up ? 0 : 1;
      if (measured >= wanted) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace paceline::support
