#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "document/json.hpp"
#include "document/model.hpp"
#include "model/facts.hpp"
#include "report/inspection.hpp"

// A model file from anywhere, from its head through its facts to the printed page.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline;
  const model::MemorySource bytes({reinterpret_cast<const char*>(data), size});
  const auto file = model::Gguf::read(bytes, "fuzz-00001-of-00002.gguf");
  if (!file) return 0;
  document::Inspection inspection;
  inspection.model = document::to_model(model::facts_of(*file));
  if (document::to_json_text(inspection).empty()) std::abort();
  report::inspection(inspection, {});
  return 0;
}
