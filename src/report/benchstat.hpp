#pragma once

#include <string>

#include "document/document.hpp"

namespace paceline::report {

/// The launches of a run's comparisons as lines of Go's benchmark format, a class a benchmark and
/// an arm a sub-name, as in "BenchmarkPaceline/class=json/arm=B 1 .. ns/op .. tok/s ..", for
/// `benchstat -col /arm` (https://golang.org/design/14313-benchmark-format); ns/op is a token's.
std::string benchstat(const document::Document& document);

}  // namespace paceline::report
