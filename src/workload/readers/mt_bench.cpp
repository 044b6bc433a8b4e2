#include "workload/readers/reader.hpp"

// MT-Bench's question.jsonl {"question_id", "category", "turns", "reference"?}; Spec-Bench's is the
// same with more categories.

namespace paceline::workload {

namespace {

bool recognises(const util::Json& record) {
  return has_key(record, "question_id") && has_key(record, "turns");
}

std::optional<Prompt> read(const util::Json& record, Tally& tally) {
  std::vector<std::string> turns;
  util::read_field(record, "turns", turns);
  return first_turn(record, std::move(turns), tally);
}

}  // namespace

const Reader mt_bench_reader = {"mt-bench", recognises, read, true};

}  // namespace paceline::workload
