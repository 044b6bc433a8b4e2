#include "worker/llama/runtime.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "build-info.h"
#include "ggml-backend.h"
#include "llama.h"
#include "log.h"

namespace paceline::worker {

namespace {

/// What the log sink remembers; the library may log from several threads.
struct LogMemory {
  std::mutex mutex;
  std::string error;
  std::atomic<bool> flash_attention_refused{false};
  PlacementLog placement;
  ggml_log_level level = GGML_LOG_LEVEL_NONE;
};

LogMemory& log_memory() {
  static LogMemory memory;
  return memory;
}

std::string without_line_end(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return std::string(text);
}

/// Warnings and errors go to stderr, whose tail the parent keeps; the rest is dropped.
void take_log_line(ggml_log_level level, const char* text, void*) {
  LogMemory& memory = log_memory();
  const std::lock_guard lock(memory.mutex);
  if (level != GGML_LOG_LEVEL_CONT) memory.level = level;
  read_placement(text, memory.placement);
  if (memory.level != GGML_LOG_LEVEL_WARN && memory.level != GGML_LOG_LEVEL_ERROR) return;
  // The API does not say whether `auto` ended with flash attention on; only this line does.
  if (std::string_view(text).find("Flash Attention not supported") != std::string_view::npos)
    memory.flash_attention_refused = true;
  // The first line says what is wrong, those after it who gave up because of it.
  if (level == GGML_LOG_LEVEL_ERROR && memory.error.empty()) memory.error = without_line_end(text);
  std::fputs(text, stderr);
}

/// The build's answer is seen from libggml, which may have been moved with the programs.
std::filesystem::path backends_folder() {
  if (const char* folder = std::getenv("PACELINE_BACKENDS_DIR")) return folder;
  Dl_info library{};
  ::dladdr(reinterpret_cast<const void*>(&ggml_backend_load_all_from_path), &library);
  const std::filesystem::path file = library.dli_fname != nullptr ? library.dli_fname : "";
  return (file.parent_path() / PACELINE_BACKENDS_DIR).lexically_normal();
}

/// Backends that were linked in are there already; others are files that have to be found.
util::Result<void> load_backends() {
  if (ggml_backend_dev_count() > 0) return {};
  const std::string folder = backends_folder().string();
  ggml_backend_load_all_from_path(folder.c_str());
  if (ggml_backend_dev_count() > 0) return {};
  return util::fail(util::ErrorKind::engine,
                    fmt::format("No compute backend of llama.cpp could be loaded from '{}': "
                                "set PACELINE_BACKENDS_DIR to the folder with libggml-cpu-*.so.",
                                folder));
}

util::Result<void> start() {
  PACELINE_TRY(check_versions(loaded_versions(), pinned_versions()));
  common_log_set_verbosity_thold(LOG_LEVEL_WARN);
  llama_log_set(take_log_line, nullptr);
  PACELINE_TRY(load_backends());
  llama_backend_init();
  return {};
}

}  // namespace

LibraryVersions pinned_versions() {
  return {.llama = PACELINE_LLAMA_VERSION,
          .ggml = PACELINE_GGML_VERSION,
          .build = PACELINE_LLAMA_BUILD};
}

LibraryVersions loaded_versions() {
  return {.llama = llama_version(), .ggml = ggml_version(), .build = llama_build_info()};
}

util::Result<void> check_versions(const LibraryVersions& found, const LibraryVersions& pinned) {
  if (found.llama == pinned.llama && found.ggml == pinned.ggml && found.build == pinned.build)
    return {};
  return util::fail(
      util::ErrorKind::engine,
      fmt::format("paceline-worker was built for llama.cpp {} (ggml {}, build {}) and found "
                  "{} (ggml {}, build {}): run scripts/fetch-engine and build again.",
                  pinned.llama, pinned.ggml, pinned.build, found.llama, found.ggml, found.build));
}

util::Result<void> start_runtime() {
  static const util::Result<void> started = start();
  return started;
}

std::string take_library_error() {
  LogMemory& memory = log_memory();
  const std::lock_guard lock(memory.mutex);
  return std::exchange(memory.error, {});
}

std::string library_reason() {
  const std::string said = take_library_error();
  return said.empty() ? "it does not say why." : said;
}

void read_placement(std::string_view line, PlacementLog& log) {
  constexpr std::string_view before_splits = "splits = ";
  if (const auto begin = line.find(before_splits); begin != std::string_view::npos) {
    const std::string_view rest = line.substr(begin + before_splits.size());
    log.graph_splits = rest.substr(0, rest.find(','));
  }
  int offloaded = 0;
  int layers = 0;
  const auto begin = line.find("offloaded ");
  if (begin == std::string_view::npos ||
      std::sscanf(std::string(line.substr(begin)).c_str(), "offloaded %d/%d layers", &offloaded,
                  &layers) != 2)
    return;
  log.layers_offloaded = offloaded;
  log.layers = layers;
}

PlacementLog take_placement_log() {
  LogMemory& memory = log_memory();
  const std::lock_guard lock(memory.mutex);
  return std::exchange(memory.placement, {});
}

bool flash_attention_was_refused() { return log_memory().flash_attention_refused; }

void flush_library_log() { common_log_flush(common_log_main()); }

}  // namespace paceline::worker
