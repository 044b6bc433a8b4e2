#include "worker/llama/projector.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "model/facts.hpp"
#include "mtmd-helper.h"
#include "mtmd.h"
#include "util/printable.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/runtime.hpp"

namespace paceline::worker {

namespace {

constexpr std::uint32_t image_side = 448;  // pixels; 256 tokens of the usual 28 x 28
constexpr const char* question = "\nDescribe this picture.";
constexpr std::int64_t most_layers = 512;
constexpr std::int64_t largest_side = 1 << 14;

/// Colours that change over the picture, three bytes a pixel, rows from the top.
std::vector<unsigned char> image_pixels() {
  std::vector<unsigned char> pixels;
  pixels.reserve(3 * image_side * image_side);
  for (std::uint32_t y = 0; y < image_side; ++y)
    for (std::uint32_t x = 0; x < image_side; ++x)
      for (const std::uint32_t level : {x * 256 / image_side, y * 256 / image_side, x ^ y})
        pixels.push_back(static_cast<unsigned char>(level));
  return pixels;
}

mtmd_context_params parameters_for(const trace::Setup& setup) {
  mtmd_context_params parameters = mtmd_context_params_default();
  parameters.print_timings = false;
  parameters.n_threads = setup.threads;
  return parameters;
}

double seconds_since(trace::Nanoseconds began) {
  return static_cast<double>(now_ns() - began) * 1e-9;
}

/// One image prompt on its way through projector and target.
class ImagePrompt {
 public:
  ImagePrompt(LoadedModel& model, trace::ProjectorFacts& facts) : model_(model), facts_(facts) {}

  util::Result<void> run() {
    PACELINE_TRY(tokenize());
    const std::size_t count = chunks_.size();
    for (std::size_t i = 0; i < count; ++i) PACELINE_TRY(read(chunks_[i], i + 1 == count));
    const float* logits = llama_get_logits_ith(model_.target.get(), -1);
    const int vocabulary = llama_vocab_n_tokens(model_.vocabulary());
    for (int token = 0; token < vocabulary; ++token)
      if (!std::isfinite(logits[token]))
        return refuse(
            "The target's logits after an image are no numbers: projector '{}' and "
            "model '{}' do not belong together.",
            *model_.setup.mmproj_path, model_.setup.model_path);
    return {};
  }

 private:
  util::Result<void> tokenize() {
    const std::vector<unsigned char> pixels = image_pixels();
    const mtmd::bitmap image(image_side, image_side, pixels.data());
    const std::string text = mtmd_default_marker() + std::string(question);
    const mtmd_input_text input{
        .text = text.c_str(), .text_len = text.size(), .add_special = true, .parse_special = true};
    const mtmd_bitmap* const images[] = {image.ptr.get()};
    if (mtmd_tokenize(projector(), chunks_.ptr.get(), &input, images, 1) != 0)
      return refuse("The projector '{}' cannot read an image: {}", *model_.setup.mmproj_path,
                    library_reason());
    facts_.image_width = facts_.image_height = static_cast<int>(image_side);
    facts_.prompt_tokens = static_cast<int>(mtmd_helper_get_n_tokens(chunks_.ptr.get()));
    const int room = static_cast<int>(llama_n_ctx(model_.target.get()));
    if (facts_.prompt_tokens > room)
      return refuse(
          "One image prompt has {} tokens with the projector '{}', and the context {}: "
          "take -c {} or more.",
          facts_.prompt_tokens, *model_.setup.mmproj_path, room, facts_.prompt_tokens);
    return {};
  }

  util::Result<void> read(const mtmd_input_chunk* chunk, bool last) {
    const bool is_image = mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_IMAGE;
    if (is_image) PACELINE_TRY(encode(chunk));
    llama_context* const target = model_.target.get();
    const int batch = static_cast<int>(llama_n_batch(target));
    const trace::Nanoseconds began = now_ns();
    const int code = is_image ? mtmd_helper_decode_image_chunk(
                                    projector(), target, chunk, mtmd_get_output_embd(projector()),
                                    position_, sequence, batch, &position_, nullptr, nullptr)
                              : mtmd_helper_eval_chunk_single(projector(), target, chunk, position_,
                                                              sequence, batch, last, &position_);
    if (code != 0)
      return refuse("llama.cpp could not read an image prompt with the projector '{}': {}",
                    *model_.setup.mmproj_path, library_reason());
    llama_synchronize(target);
    facts_.prefill_s += seconds_since(began);
    return {};
  }

  util::Result<void> encode(const mtmd_input_chunk* chunk) {
    const trace::Nanoseconds began = now_ns();
    if (mtmd_encode_chunk(projector(), chunk) != 0)
      return refuse("The projector '{}' could not encode an image: {}", *model_.setup.mmproj_path,
                    library_reason());
    facts_.encode_s += seconds_since(began);
    facts_.image_tokens += static_cast<int>(mtmd_input_chunk_get_n_tokens(chunk));
    return {};
  }

  mtmd_context* projector() const { return model_.projector.get(); }

  LoadedModel& model_;
  trace::ProjectorFacts& facts_;
  mtmd::input_chunks chunks_{mtmd_input_chunks_init()};
  llama_pos position_ = 0;
};

std::uint64_t allocated_bytes(const std::string& path, const mtmd_context_params& parameters) {
  std::uint64_t sum = 0;
  for (const auto& [device, bytes] : mtmd_get_memory_usage(path.c_str(), parameters)) sum += bytes;
  return sum;
}

}  // namespace

void ProjectorDeleter::operator()(mtmd_context* projector) const { mtmd_free(projector); }

// What libmtmd divides by, or asserts and so aborts on.
util::Result<void> check_projector(const model::Gguf& file) {
  const std::string shown = util::printable(file.path());
  if (file.architecture() != "clip")
    return refuse(
        "'{}' is no vision projector (its architecture is '{}', not 'clip'): name the "
        "model's mmproj file with --mmproj.",
        shown, util::printable(file.architecture()));
  if (!file.flag("clip.has_vision_encoder").value_or(false))
    return refuse("'{}' has no vision encoder: name the model's mmproj file for images.", shown);
  const auto layers = file.number("clip.vision.block_count").value_or(0);
  if (layers < 1 || layers > most_layers)
    return refuse(
        "'{}' says clip.vision.block_count {}, and an encoder has 1 to {} layers: "
        "convert it again.",
        shown, layers, most_layers);
  for (const char* key : {"clip.vision.patch_size", "clip.vision.image_size"}) {
    const auto side = file.number(key).value_or(0);
    if (side < 1 || side > largest_side)
      return refuse("'{}' says {} {}, which no encoder has: convert it again.", shown, key, side);
  }
  for (const char* key : {"clip.vision.attention.head_count", "clip.vision.spatial_merge_size"})
    if (const auto number = file.number(key); number && *number < 1)
      return refuse("'{}' says {} {}, which no encoder has: convert it again.", shown, key,
                    *number);
  return {};
}

util::Result<void> load_projector(LoadedModel& model, const model::Gguf& file) {
  const std::string& path = *model.setup.mmproj_path;
  ggml_log_callback log = nullptr;
  void* log_data = nullptr;
  llama_log_get(&log, &log_data);
  mtmd_helper_log_set(log, log_data);
  const mtmd_context_params parameters = parameters_for(model.setup);
  const trace::Nanoseconds began = now_ns();
  model.projector.reset(mtmd_init_from_file(path.c_str(), model.target_model.get(), parameters));
  if (model.projector == nullptr)
    return refuse("llama.cpp could not load the projector '{}': {}", path, library_reason());
  trace::ProjectorFacts facts;
  facts.load_s = seconds_since(began);
  facts.file = model::facts_of(file);
  facts.allocated_bytes = allocated_bytes(path, parameters);
  PACELINE_TRY(ImagePrompt(model, facts).run());
  model.facts.projector = std::move(facts);
  return {};
}

}  // namespace paceline::worker
