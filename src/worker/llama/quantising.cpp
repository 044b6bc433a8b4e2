#include "worker/llama/quantising.hpp"

#include "llama.h"
#include "util/assert.hpp"
#include "worker/llama/loadable.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/runtime.hpp"

namespace paceline::worker {

namespace {

llama_ftype library_type(protocol::Quant quant) {
  PACELINE_ASSERT(quant != protocol::Quant::as_is);
  if (quant == protocol::Quant::q8_0) return LLAMA_FTYPE_MOSTLY_Q8_0;
  return quant == protocol::Quant::q4_0 ? LLAMA_FTYPE_MOSTLY_Q4_0 : LLAMA_FTYPE_ALL_F32;
}

}  // namespace

util::Result<void> quantise(const std::string& source, protocol::Quant quant,
                            const std::string& destination) {
  PACELINE_TRY_ASSIGN(const model::Gguf head, model::Gguf::open(source));
  PACELINE_TRY(check_loadable(head));
  if (const auto files = head.number("split.count").value_or(1); files > 1)
    return refuse("'{}' is the first of {} files: merge them before they are stored as {}.", source,
                  files, util::enum_name(quant));
  PACELINE_TRY(start_runtime());
  take_library_error();
  llama_model_quantize_params parameters = llama_model_quantize_default_params();
  parameters.ftype = library_type(quant);
  parameters.pure = true;
  if (llama_model_quantize(source.c_str(), destination.c_str(), &parameters) == 0) return {};
  const std::string said = take_library_error();
  return refuse("llama.cpp could not store '{}' as {} in '{}': {}", source, util::enum_name(quant),
                destination, said.empty() ? "it does not say why." : said);
}

}  // namespace paceline::worker
