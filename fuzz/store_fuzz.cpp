#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/compression.hpp"
#include "store/import.hpp"
#include "trace/trace_file.hpp"

// What a store gives back of bytes from anywhere: as a text that is imported, which must come out
// as it was, and as a record of a study that is there already.

namespace {

using namespace paceline;

void import_text(std::string_view text) {
  auto store = store::Store::open(":memory:");
  if (!store) std::abort();
  const auto texts = store::split_traces(text);
  bool all = true;
  for (const auto& study : texts.studies) all = store::import_study(*store, study) && all;
  std::string exported;
  const auto rows = *store->list({});
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto lines = store->lines(*row);
    const auto built = store->build(*row);
    if (!lines || !built) std::abort();
    if (row->launches < static_cast<int>(built->trace().launches.size())) std::abort();
    exported += *lines;
  }
  // Several studies come out by their dates, so only one is compared.
  if (all && texts.studies.size() == 1 && exported != text.substr(0, text.rfind('\n') + 1))
    std::abort();
}

void read_record(std::string_view frame) {
  const auto line = store::decompress(frame);
  if (line) static_cast<void>(trace::read_record(*line, "a record"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && bytes.front() == '{')
    import_text(bytes);
  else
    read_record(bytes);
  return 0;
}
