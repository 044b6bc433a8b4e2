#include "worker/llama/synthesis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "ggml.h"
#include "gguf.h"
#include "model/gguf.hpp"
#include "model/laboratory.hpp"
#include "worker/llama/ballast.hpp"
#include "worker/llama/filling.hpp"
#include "worker/llama/quantising.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

constexpr int most_extra_layers = 4096;
constexpr int most_feed_forward = 1 << 20;
// The kernels' step along a row: only whole steps of zeros leave the real columns' sums as they
// are, to the last bit.
constexpr int feed_forward_step = 32;
const char* const layers_key = "attention.recurrent_layers";

util::Result<void> check_ballast(const protocol::Synth& job) {
  if (job.extra_layers < 0 || job.extra_layers > most_extra_layers)
    return refuse("{} layers cannot be added: take 0 to {}.", job.extra_layers, most_extra_layers);
  if (job.feed_forward < 1 || job.feed_forward > most_feed_forward ||
      job.feed_forward % feed_forward_step != 0)
    return refuse("A feed-forward of {} cannot be made: take a multiple of {} up to {}.",
                  job.feed_forward, feed_forward_step, most_feed_forward);
  return {};
}

util::Result<void> check_job(const protocol::Synth& job) {
  if (!job.is_heavier() && job.quant == protocol::Quant::as_is)
    return refuse("A copy of '{}' would be the same file: ask for ballast or another type.",
                  job.source_path);
  if (job.is_heavier()) PACELINE_TRY(check_ballast(job));
  std::error_code ignored;
  if (std::filesystem::equivalent(job.source_path, job.destination_path, ignored))
    return refuse("'{}' would be overwritten by its own copy: name another destination.",
                  job.source_path);
  return {};
}

struct Freeing {
  void operator()(gguf_context* gguf) const { gguf_free(gguf); }
  void operator()(ggml_context* tensors) const { ggml_free(tensors); }
};
using GgufPtr = std::unique_ptr<gguf_context, Freeing>;
using TensorsPtr = std::unique_ptr<ggml_context, Freeing>;

/// The source as ggml holds it, which can copy its keys and write its tensors.
struct Source {
  model::Gguf head;
  GgufPtr gguf;
  TensorsPtr tensors;
};

util::Result<Source> open_source(const std::string& path) {
  PACELINE_TRY_ASSIGN(model::Gguf head, model::Gguf::open(path));
  ggml_context* tensors = nullptr;
  GgufPtr gguf(gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = &tensors}));
  if (gguf == nullptr) return refuse("'{}' cannot be read by ggml: convert it again.", path);
  return Source{std::move(head), std::move(gguf), TensorsPtr(tensors)};
}

util::Result<void> check_types(const Source& file) {
  for (ggml_tensor* tensor = ggml_get_first_tensor(file.tensors.get()); tensor != nullptr;
       tensor = ggml_get_next_tensor(file.tensors.get(), tensor))
    if (tensor->type != GGML_TYPE_F16 && tensor->type != GGML_TYPE_F32)
      return refuse("'{}' is quantised ({} is {}): start from the F16 or F32 file.",
                    file.head.path(), ggml_get_name(tensor), ggml_type_name(tensor->type));
  return {};
}

/// How the source is built, or why no heavier copy of it can be made.
util::Result<Ballast> plan_ballast(const Source& file, const protocol::Synth& job) {
  const auto recurrent = file.head.own_numbers(layers_key);
  const auto trunk = file.head.trunk_layers();
  const auto blocks = file.head.own_number("block_count");
  const auto feed_forward = file.head.own_number("feed_forward_length");
  if (file.head.architecture() != "qwen35" || !recurrent || !trunk || !feed_forward || *trunk < 1 ||
      static_cast<std::int64_t>(recurrent->size()) != *blocks)
    return refuse(
        "'{}' is not a laboratory target (architecture qwen35 with {}): only those can "
        "be made heavier without changing what they say.",
        file.head.path(), layers_key);
  PACELINE_TRY(check_types(file));
  if (job.feed_forward < *feed_forward)
    return refuse("'{}' has a feed-forward of {}: {} would be lighter, not heavier.",
                  file.head.path(), *feed_forward, job.feed_forward);
  const auto attention = std::find(recurrent->begin(), recurrent->begin() + *trunk, 0);
  if (attention == recurrent->begin() + *trunk)
    return refuse("'{}' has no attention layer whose shape the added layers could take.",
                  file.head.path());
  return Ballast{.trunk_layers = static_cast<int>(*trunk),
                 .template_layer = static_cast<int>(attention - recurrent->begin()),
                 .extra_layers = job.extra_layers,
                 .feed_forward = job.feed_forward};
}

std::vector<SourceTensor> source_tensors(const Source& file) {
  std::vector<SourceTensor> tensors;
  for (ggml_tensor* tensor = ggml_get_first_tensor(file.tensors.get()); tensor != nullptr;
       tensor = ggml_get_next_tensor(file.tensors.get(), tensor))
    tensors.push_back({.name = ggml_get_name(tensor),
                       .type = tensor->type,
                       .shape = {.columns = tensor->ne[0], .rows = ggml_nrows(tensor)}});
  return tensors;
}

void set_keys(const Source& file, const Ballast& ballast, gguf_context* gguf) {
  const std::string prefix = file.head.architecture() + ".";
  const auto blocks = static_cast<std::uint32_t>(*file.head.own_number("block_count"));
  gguf_set_kv(gguf, file.gguf.get());
  gguf_set_val_u32(gguf, (prefix + "block_count").c_str(),
                   blocks + static_cast<std::uint32_t>(ballast.extra_layers));
  gguf_set_val_u32(gguf, (prefix + "feed_forward_length").c_str(),
                   static_cast<std::uint32_t>(ballast.feed_forward));
  const std::vector<std::int64_t> recurrent = *file.head.own_numbers(layers_key);
  std::vector<std::uint32_t> layers(recurrent.begin(), recurrent.end());
  layers.insert(layers.begin() + ballast.trunk_layers,
                static_cast<std::size_t>(ballast.extra_layers), 0u);
  gguf_set_arr_data(gguf, (prefix + layers_key).c_str(), GGUF_TYPE_UINT32, layers.data(),
                    layers.size());
}

std::vector<char> head_of(const Source& file, const Ballast& ballast,
                          const std::vector<HeavyTensor>& tensors) {
  const GgufPtr gguf(gguf_init_empty());
  set_keys(file, ballast, gguf.get());
  const TensorsPtr infos(ggml_init({.mem_size = ggml_tensor_overhead() * (tensors.size() + 1),
                                    .mem_buffer = nullptr,
                                    .no_alloc = true}));
  for (const HeavyTensor& heavy : tensors) {
    ggml_tensor* info =
        ggml_new_tensor_2d(infos.get(), heavy.type, heavy.shape.columns, heavy.shape.rows);
    ggml_set_name(info, heavy.name.c_str());
    gguf_add_tensor(gguf.get(), info);
  }
  std::vector<char> head(gguf_get_meta_size(gguf.get()));
  gguf_get_meta_data(gguf.get(), head.data());
  return head;
}

/// Writes the head and every tensor; false when the disk or the source did not go along.
bool write_copy(const Source& file, const Ballast& ballast, const std::string& path) {
  const std::vector<SourceTensor> sources = source_tensors(file);
  const std::vector<HeavyTensor> tensors = plan_heavier(sources, ballast);
  const std::vector<char> head = head_of(file, ballast, tensors);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  std::ifstream in(file.head.path(), std::ios::binary);
  out.write(head.data(), static_cast<std::streamsize>(head.size()));
  Filler filler;
  for (const HeavyTensor& tensor : tensors) {
    std::vector<char> bytes;
    if (tensor.source >= 0) {
      const std::size_t offset = gguf_get_data_offset(file.gguf.get()) +
                                 gguf_get_tensor_offset(file.gguf.get(), tensor.source);
      bytes.resize(gguf_get_tensor_size(file.gguf.get(), tensor.source));
      in.seekg(static_cast<std::streamoff>(offset));
      in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    const MatrixShape part =
        tensor.source < 0 ? MatrixShape{} : sources[static_cast<std::size_t>(tensor.source)].shape;
    filler.write(tensor, part, bytes, gguf_get_alignment(file.gguf.get()), out);
    if (!in || !out) return false;
  }
  out.close();
  return static_cast<bool>(out);
}

/// A file that is on its way to the destination, and gone unless it arrives there.
class Unfinished {
 public:
  // Named by the process: two that write the same copy at once must not share it.
  Unfinished(const std::string& destination, std::string_view step)
      : path_(fmt::format("{}.{}.{}", destination, ::getpid(), step)) {}
  ~Unfinished() { std::remove(path_.c_str()); }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

util::Result<void> not_written(const std::string& destination) {
  const std::string why = errno != 0 ? std::strerror(errno) : "the source file is cut short";
  return util::fail(util::ErrorKind::engine,
                    fmt::format("The copy '{}' could not be written ({}): check that its folder "
                                "exists and has room.",
                                destination, why));
}

util::Result<void> write_heavier(const protocol::Synth& job, const std::string& path) {
  PACELINE_TRY_ASSIGN(const Source file, open_source(job.source_path));
  PACELINE_TRY_ASSIGN(const Ballast ballast, plan_ballast(file, job));
  errno = 0;
  return write_copy(file, ballast, path) ? util::Result<void>{} : not_written(job.destination_path);
}

}  // namespace

util::Result<void> synthesize(const protocol::Synth& job) {
  try {
    PACELINE_TRY(check_job(job));
    PACELINE_TRY(model::check_laboratory_file(job.source_path));
    const Unfinished heavier(job.destination_path, "heavier");
    const Unfinished quantised(job.destination_path, "quantised");
    if (job.is_heavier()) PACELINE_TRY(write_heavier(job, heavier.path()));
    const bool is_quantised = job.quant != protocol::Quant::as_is;
    if (is_quantised)
      PACELINE_TRY(quantise(job.is_heavier() ? heavier.path() : job.source_path, job.quant,
                            quantised.path()));
    const std::string& made = is_quantised ? quantised.path() : heavier.path();
    errno = 0;
    if (std::rename(made.c_str(), job.destination_path.c_str()) == 0) return {};
    return not_written(job.destination_path);
  } catch (const std::exception& problem) {
    return refuse("The copy of '{}' could not be made: {}.", job.source_path, problem.what());
  }
}

}  // namespace paceline::worker
