#include "cli/depth_options.hpp"

#include <CLI/CLI.hpp>
#include <set>
#include <utility>

#include "cli/sizes.hpp"
#include "util/files.hpp"
#include "util/misused.hpp"
#include "workload/fill_text.hpp"

namespace paceline::cli {

namespace {

constexpr const char* group = "Measuring";

/// Bytes of text that hold a token, of any vocabulary we know with some to spare.
constexpr std::size_t bytes_per_token = 8;

/// Tokens left above the deepest depth for a prompt, where nobody says the depths.
constexpr int room_for_prompts = 1024;

/// 0, then four times deeper each time, and the deepest.
std::vector<int> depths_up_to(int deepest) {
  constexpr int first = 4096;
  std::vector<int> depths = {0};
  for (int depth = first; depth < deepest; depth *= 4) depths.push_back(depth);
  depths.push_back(deepest);
  return depths;
}

}  // namespace

void add_depth_options(CLI::App& command, DepthSettings& settings) {
  command
      .add_option("--depth,--depths", settings.depths,
                  "Tokens of text in the context below the prompts, comma-separated as in "
                  "0,4k,16k: every class is measured at each, on every arm; each launch fills its "
                  "context once, going on from depth to depth")
      ->delimiter(',')
      ->type_name("TOKENS")
      ->default_str(settings.to_the_end ? "0, 4k, 16k, .. to the end of the context" : "0")
      ->group(group);
  command
      .add_option("--fill-text", settings.fill_text,
                  "File of the text that fills it; shorter text is repeated")
      ->type_name("FILE")
      ->default_str("texts of prompts that are not measured")
      ->group(group);
}

util::Result<std::vector<int>> read_depths(const DepthSettings& settings, int n_ctx,
                                           int n_predict) {
  if (settings.to_the_end && settings.depths.empty()) {
    const int deepest = n_ctx - room_for_prompts - n_predict;
    if (deepest > 0) return depths_up_to(deepest);
    return util::misused("-c {} leaves nothing to fill: prompts and outputs need {} tokens of it",
                         n_ctx, room_for_prompts + n_predict);
  }
  std::set<int> depths;
  for (const auto& text : settings.depths) {
    PACELINE_TRY_ASSIGN(const int depth, parse_token_count(text));
    depths.insert(depth);
  }
  if (depths.empty()) depths.insert(0);
  if (*depths.rbegin() == 0 && settings.fill_text)
    return util::misused("--fill-text fills the context to a --depth above 0: give one");
  return std::vector<int>(depths.begin(), depths.end());
}

util::Result<void> choose_fill(const DepthSettings& settings,
                               const std::vector<workload::Prompt>& prompts,
                               study::RunOptions& run) {
  if (run.depths.back() == 0) return {};
  const std::size_t bytes = bytes_per_token * static_cast<std::size_t>(run.depths.back());
  workload::FillText fill;
  if (settings.fill_text) {
    PACELINE_TRY_ASSIGN(const std::string text, util::read_file(*settings.fill_text));
    if (text.empty()) return util::misused("'{}' holds no text", *settings.fill_text);
    fill = workload::repeated(text, "the text of " + *settings.fill_text, bytes);
  } else {
    fill = workload::fill_text(prompts, run.prompts.measured, bytes);
  }
  run.fill_text = std::move(fill.text);
  run.workload_notes.push_back(std::move(fill.note));
  return {};
}

}  // namespace paceline::cli
