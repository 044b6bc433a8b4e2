#include "study/ballast.hpp"

#include <fmt/format.h>

#include <string_view>

#include "study/collect.hpp"
#include "util/files.hpp"
#include "util/hash.hpp"

namespace paceline::study {

namespace {

constexpr auto patience = std::chrono::minutes(5);

std::string seal_of(std::string_view bytes) { return fmt::format("{:016x}", util::fnv1a(bytes)); }

/// Whether the copy is there, whole and as it was written: a cache is a place where things rot.
bool is_sealed(const std::filesystem::path& copy, const std::filesystem::path& seal) {
  const auto expected = util::read_file(seal);
  if (!expected) return false;
  const auto bytes = util::read_file(copy);
  return bytes && seal_of(*bytes) == *expected;
}

}  // namespace

util::Result<std::filesystem::path> ballasted(const std::filesystem::path& target,
                                              const Ballast& ballast,
                                              const std::filesystem::path& folder,
                                              engine::Engine& engine,
                                              const std::function<bool()>& stop_asked) {
  PACELINE_TRY_ASSIGN(const std::string bytes, util::read_file(target));
  const auto path =
      folder / fmt::format("{}-{}x{}-{:016x}.gguf", target.stem().string(), ballast.extra_layers,
                           ballast.feed_forward, util::fnv1a(bytes));
  const std::filesystem::path seal = path.string() + ".sum";
  if (is_sealed(path, seal)) return path;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("cannot create {}: {}", folder.string(), problem.message()));
  protocol::Synth job;
  job.source_path = target.string();
  job.destination_path = path.string();
  job.extra_layers = ballast.extra_layers;
  job.feed_forward = ballast.feed_forward;
  const auto outcome = collect(engine, job, patience, stop_asked).request.outcome;
  if (outcome.kind != trace::OutcomeKind::done)
    return util::fail(util::ErrorKind::engine,
                      fmt::format("could not write {}: {}", path.string(), outcome.reason));
  PACELINE_TRY_ASSIGN(const std::string copy, util::read_file(path));
  PACELINE_TRY(util::write_file(seal, seal_of(copy)));
  return path;
}

}  // namespace paceline::study
