#pragma once

#include <string>
#include <vector>

namespace paceline::report {

/// Reasons that stand below the tables, each once, with a number that cells refer to.
class Notes {
 public:
  /// "(2)": the number of that reason, new or old.
  std::string mark(const std::string& reason);

  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  std::vector<std::string> reasons_;
};

}  // namespace paceline::report
