#include "study/derived.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "model/sha256.hpp"
#include "study/collect.hpp"
#include "util/files.hpp"

namespace paceline::study {

namespace {

constexpr auto patience = std::chrono::hours(1);  // of a writer that says nothing until it is done

/// Whether the copy is there, whole and as it was written: a cache is a place where things rot.
bool is_sealed(const std::filesystem::path& copy, const std::filesystem::path& seal) {
  const auto expected = util::read_file(seal);
  const auto found = model::sha256_of(copy);
  return expected && found && *found == *expected;
}

/// "target-f16-6x2048-q8_0-5f0c..": the copy's name, without an ending.
std::string name_of(const std::filesystem::path& model, const Derivation& derivation,
                    const std::string& hash) {
  constexpr std::size_t shown = 16;
  std::string name = model.stem().string();
  if (derivation.extra_layers != 0 || derivation.feed_forward != 0)
    name += fmt::format("-{}x{}", derivation.extra_layers, derivation.feed_forward);
  if (derivation.quant != protocol::Quant::as_is)
    name += fmt::format("-{}", util::enum_name(derivation.quant));
  return name + "-" + hash.substr(0, shown);
}

util::Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!problem) return {};
  return util::fail(util::ErrorKind::usage,
                    fmt::format("cannot create {}: {}", folder.string(), problem.message()));
}

}  // namespace

util::Result<std::filesystem::path> derived(const std::filesystem::path& model,
                                            const Derivation& derivation,
                                            const std::filesystem::path& folder,
                                            engine::Engine& engine,
                                            const std::function<bool()>& stop_asked) {
  if (!derivation.is_needed()) return model;
  PACELINE_TRY_ASSIGN(const std::string source, model::sha256_of(model));
  const auto path = folder / (name_of(model, derivation, source) + ".gguf");
  const std::filesystem::path seal = path.string() + ".sum";
  if (is_sealed(path, seal)) return path;
  PACELINE_TRY(make_folder(folder));
  protocol::Synth job;
  job.source_path = model.string();
  job.destination_path = path.string();
  job.extra_layers = derivation.extra_layers;
  job.feed_forward = derivation.feed_forward;
  job.quant = derivation.quant;
  const auto outcome = collect(engine, job, patience, stop_asked).request.outcome;
  if (outcome.kind != trace::OutcomeKind::done)
    return util::fail(util::ErrorKind::engine,
                      fmt::format("could not write {}: {}", path.string(), outcome.reason));
  PACELINE_TRY_ASSIGN(const std::string written, model::sha256_of(path));
  PACELINE_TRY(util::write_file(seal, written));
  return path;
}

}  // namespace paceline::study
