#include "worker/llama/projector.hpp"
#include "worker/llama/refuse.hpp"

// Takes projector.cpp's place where llama.cpp comes without its libmtmd.

namespace paceline::worker {

void ProjectorDeleter::operator()(mtmd_context*) const {}

util::Result<void> check_projector(const model::Gguf& file) {
  return refuse(
      "'{}' cannot be loaded: this paceline was built without llama.cpp's libmtmd, which its "
      "prebuilt package lacks. Build it with PACELINE_ENGINE=source make build, or measure your "
      "llama-server with --server-bin.",
      file.path());
}

util::Result<void> load_projector(LoadedModel&, const model::Gguf& file) {
  return check_projector(file);
}

}  // namespace paceline::worker
