#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/measure.hpp"
#include "cli/sides.hpp"
#include "document/document.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// What compare is asked beside what its sides are.
struct CompareRule {
  std::string margin = "2%";
  std::optional<std::string> fail_if_slower;
  std::vector<int> looks;
  std::optional<std::string> budget;
  bool launches_given = false;
};

/// Where results go beside the report.
struct CompareOutput {
  bool benchstat = false;  ///< printed in place of the report
  std::optional<std::string> github;
  std::optional<std::string> junit;
};

/// A planned comparison: what the trace's header will say of it, its looks and its budget included.
util::Result<Sides> plan_comparison(const SideWords& words, const CompareRule& rule);

/// Measures it and gives its document back; nothing where it was only said or interrupted, with the
/// exit code.
struct Compared {
  int exit_code = 0;
  std::optional<document::Document> document;
};
util::Result<Compared> measure_comparison(const Sides& sides);

/// 1 where the stated limit is broken, 4 where it cannot be told, else 0.
int exit_code_of(const document::Document& document);

/// Refuses files that cannot be written, before anything is measured.
util::Result<void> check_files(const CompareOutput& output);

util::Result<void> write_files(const document::Document& document, const CompareOutput& output);

}  // namespace paceline::cli
