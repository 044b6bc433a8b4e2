#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// Something that two studies do not have in common, as JSON texts, or in words an arm that the
/// other lacks; empty: not there.
struct Unlike {
  std::string place;  ///< as in "/header/n_predict" or "/engine/plain/n_ctx"
  std::string one;
  std::string other;
};

/// A figure of an arm and class that both studies have. They were not measured in turn, so nothing
/// follows from the two: a machine that changed in between looks like a setting.
struct UnpairedFigure {
  std::string arm;
  std::string workload_class;
  std::string figure;  ///< its name in reports
  Quantity one;
  Quantity other;
};

/// Two studies beside one another, without a verdict.
struct Difference {
  std::string one;  ///< their ids
  std::string other;
  std::vector<Unlike> unlike;
  std::vector<UnpairedFigure> figures;
  std::vector<std::string> only_in_one;  ///< "ARM on CLASS", which the other has no figure of
};

Difference to_difference(const trace::Trace& one, const Document& one_document,
                         const trace::Trace& other, const Document& other_document);

}  // namespace paceline::document
