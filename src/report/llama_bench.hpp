#pragma once

#include <string>

#include "document/document.hpp"

namespace paceline::report {

// A run as llama-bench of llama.cpp v0.5.0 prints one, so that its users can paste the rows beside
// their own: a "pp" and a "tg" row for each class and arm, a sample a launch. What tells classes
// and drafters apart stands behind the model's name, as llama-bench has neither.
// docs/llama-bench.md says what the fields mean here; one that nobody knows is null.

std::string llama_bench_json(const document::Document& document);
std::string llama_bench_csv(const document::Document& document);
std::string llama_bench_markdown(const document::Document& document);
std::string llama_bench_sql(const document::Document& document);

}  // namespace paceline::report
