#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "document/json.hpp"
#include "document/model.hpp"
#include "model/bytes.hpp"
#include "model/facts.hpp"
#include "model/placing.hpp"
#include "report/inspection.hpp"

namespace {

using namespace paceline;

/// What passes of it would read: finite whatever the head says, and the same of facts that went
/// through a trace.
void read_passes(const model::ReadFacts& reads) {
  const model::ReadFacts whole = model::with_borrowed(reads, reads);
  const std::vector<model::PassShape> shapes = {
      {}, {.width = 16, .depth = 4000}, {.width = 700, .cache_type_k = "q8_0"}};
  for (const model::PassShape& shape : shapes)
    for (const auto& classes :
         {model::bytes_of_pass(whole, shape), model::bytes_of_taking_in(whole, shape),
          model::bytes_of_draft(whole, 4, shape)})
      if (classes && !std::isfinite(model::total_bytes(*classes))) std::abort();
}

/// With layers on a device both places together read what one does.
void place_layers(const model::Gguf& file, const model::ReadFacts& reads) {
  const auto sum = [](const model::ReadFacts& of) {
    return model::total_bytes(model::bytes_of_pass(of, {.width = 16}).value());
  };
  for (const int layers : {0, 2, 100000}) {
    const auto placed = model::placed_reads_of(file, layers).value();
    const double both = sum(placed.cpu.target) + sum(placed.device.target);
    if (std::abs(both - sum(reads)) > 1e-9 * both) std::abort();
  }
}

}  // namespace

// A model file from anywhere, from its head through its facts to the printed page.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const model::MemorySource bytes({reinterpret_cast<const char*>(data), size});
  const auto file = model::Gguf::read(bytes, "fuzz-00001-of-00002.gguf");
  if (!file) return 0;
  document::Inspection inspection;
  const model::FileFacts facts = model::facts_of(*file);
  if (facts.reads.has_value() != facts.reads_unknown.empty()) std::abort();
  if (facts.reads) read_passes(*facts.reads);
  if (facts.reads) place_layers(*file, *facts.reads);
  if (facts.drafter && facts.drafter->reads) read_passes(*facts.drafter->reads);
  inspection.model = document::to_model(facts);
  if (document::to_json_text(inspection).empty()) std::abort();
  report::inspection(inspection, {});
  return 0;
}
