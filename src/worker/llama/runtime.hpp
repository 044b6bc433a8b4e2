#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "util/result.hpp"

namespace paceline::worker {

/// What the linked llama.cpp says it is. There is no ABI check in it, so ours is by name.
struct LibraryVersions {
  std::string llama;
  std::string ggml;
  std::string build;
};

/// The versions whose headers this program was compiled with.
LibraryVersions pinned_versions();

/// The versions of the libraries that are loaded now.
LibraryVersions loaded_versions();

/// An error that names both sides when `found` is not what `pinned` says.
util::Result<void> check_versions(const LibraryVersions& found, const LibraryVersions& pinned);

/// Checks the versions, takes over the library's log and loads the compute backends; does so once
/// however often it is called. PACELINE_BACKENDS_DIR in the environment names another folder.
util::Result<void> start_runtime();

/// The first error the library logged since the last call, without its line end; empty: none.
std::string take_library_error();

/// The same for the end of a sentence; empty never is.
std::string library_reason();

/// What the library logged of where a model and its graph were placed.
struct PlacementLog {
  std::optional<int> layers_offloaded;  ///< absent: no device that could take any
  std::optional<int> layers;            ///< likewise
  std::string graph_splits;             ///< empty: nothing was logged
};

/// Takes what one line of the library's log says of it, if it does.
void read_placement(std::string_view line, PlacementLog& log);

/// What was logged so since the last call.
PlacementLog take_placement_log();

/// True when the library has logged that it switched flash attention off.
bool flash_attention_was_refused();

/// Writes out what the library's asynchronous log still holds.
void flush_library_log();

}  // namespace paceline::worker
