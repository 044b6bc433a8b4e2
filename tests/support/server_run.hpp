#pragma once

#include <string>
#include <vector>

#include "mock/mock.hpp"
#include "support/mock_server.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "util/json.hpp"

namespace paceline::support {

/// Truth of a mock whose passes draft 3 and accept 2, draft nothing, draft 3 and accept 3, and so
/// on. Of 16 tokens the first comes from the prompt; the others take six passes that emit 3, 1, 4,
/// 3, 1 and 3, since the last is cut: where drafts are kept inside the limit it drafts 2 and
/// accepts 2, elsewhere it drafts 3, accepts 3 and throws a token away.
mock::Options known_server(const std::string& dialect, double seconds_per_pass,
                           const std::vector<std::string>& faults = {});

/// `paceline run` of the built program on two prompts of one class, 16 tokens each.
/// A server gets one request to try it out, two to warm up, then the two that are measured.
class ServerRun {
 public:
  explicit ServerRun(int launches = 1) : launches_(launches) {}

  std::string home() const { return folder_.path().string(); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// Runs it against a running server, or with the arguments alone.
  Ended on(const MockServer& server, std::vector<std::string> more = {}) const;
  Ended with(std::vector<std::string> arguments) const;

  util::Json document() const;
  std::string trace_text() const;
  /// Every warning of a kind, one a line; empty when there is none.
  std::string warnings(const std::string& kind) const;

 private:
  int launches_;
  TemporaryFolder folder_;
};

/// The only class of an arm, by default of the only arm.
util::Json workload_of(const util::Json& document, std::size_t arm = 0);

}  // namespace paceline::support
