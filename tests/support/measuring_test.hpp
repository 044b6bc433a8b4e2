#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
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

 private:
  TemporaryFolder folder_;
};

}  // namespace paceline::support
