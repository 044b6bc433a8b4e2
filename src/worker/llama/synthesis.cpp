#include "worker/llama/synthesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ggml.h"
#include "gguf.h"
#include "model/gguf.hpp"
#include "model/laboratory.hpp"
#include "worker/llama/ballast.hpp"
#include "worker/llama/ballast_plan.hpp"
#include "worker/llama/filling.hpp"
#include "worker/llama/gguf_ptr.hpp"
#include "worker/llama/quantising.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/tensor_writer.hpp"
#include "worker/llama/unfinished.hpp"

namespace paceline::worker {

namespace {

constexpr int most_extra_layers = 4096;
constexpr int most_feed_forward = 1 << 20;
// The kernels' step along a row: only whole steps of zeros leave the real columns' sums as they
// are, to the last bit.
constexpr int feed_forward_step = 32;

util::Result<void> check_ballast(const protocol::Synth& job) {
  if (job.ballast_bytes != 0) return {};
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

std::vector<SourceTensor> source_tensors(const Source& file) {
  std::vector<SourceTensor> tensors;
  for (ggml_tensor* tensor = ggml_get_first_tensor(file.tensors.get()); tensor != nullptr;
       tensor = ggml_get_next_tensor(file.tensors.get(), tensor))
    tensors.push_back({.name = ggml_get_name(tensor),
                       .type = tensor->type,
                       .shape = {.columns = tensor->ne[0], .rows = ggml_nrows(tensor)},
                       .depth = tensor->ne[2]});
  return tensors;
}

std::vector<char> head_of(const Source& file, const Ballast& ballast,
                          const std::vector<HeavyTensor>& tensors) {
  const GgufPtr gguf(gguf_init_empty());
  gguf_set_kv(gguf.get(), file.gguf.get());
  set_heavier_keys(file.head, ballast, gguf.get());
  const TensorsPtr infos(ggml_init({.mem_size = ggml_tensor_overhead() * (tensors.size() + 1),
                                    .mem_buffer = nullptr,
                                    .no_alloc = true}));
  for (const HeavyTensor& heavy : tensors) {
    ggml_tensor* info = ggml_new_tensor_3d(infos.get(), heavy.type, heavy.shape.columns,
                                           heavy.shape.rows / heavy.depth, heavy.depth);
    ggml_set_name(info, heavy.name.c_str());
    gguf_add_tensor(gguf.get(), info);
  }
  std::vector<char> head(gguf_get_meta_size(gguf.get()));
  gguf_get_meta_data(gguf.get(), head.data());
  return head;
}

/// The tensors of a copy, on their way from the source and from chance to the disk.
class CopyWriter {
 public:
  CopyWriter(const Source& file, const std::string& path, WriteProgress& progress)
      : file_(file),
        in_(file.head.path(), std::ios::binary),
        out_(path, std::ios::binary | std::ios::trunc),
        progress_(progress) {}

  /// Writes the head and every tensor; false when the disk or the source did not go along, or the
  /// job was cancelled.
  bool write(const std::vector<char>& head, const std::vector<SourceTensor>& sources,
             const std::vector<HeavyTensor>& tensors) {
    bool good = writer_.put(head);
    for (const HeavyTensor& tensor : tensors) {
      if (!good) return false;
      if (tensor.source < 0)
        good = write_added(tensor);
      else
        good = write_kept(tensor, sources[static_cast<std::size_t>(tensor.source)].shape);
    }
    out_.close();
    return good && out_;
  }

 private:
  std::size_t alignment() const { return gguf_get_alignment(file_.gguf.get()); }

  bool write_added(const HeavyTensor& heavy) {
    const bool random = heavy.fill == Fill::random;
    const synth::TensorPlan tensor{
        .name = heavy.name,
        .dimensions = {heavy.shape.columns, heavy.shape.rows},
        .type = static_cast<std::uint32_t>(heavy.type),
        .fill = random ? synth::Fill::random : synth::Fill::constant,
        .value = random ? ballast_deviation : (heavy.fill == Fill::one ? 1.0 : 0.0)};
    return writer_.write(tensor) && writer_.pad(tensor.bytes(), alignment());
  }

  /// A source's tensor as it is, or in a corner of a wider one.
  bool write_kept(const HeavyTensor& tensor, const MatrixShape& part) {
    const std::size_t size = gguf_get_tensor_size(file_.gguf.get(), tensor.source);
    in_.seekg(static_cast<std::streamoff>(gguf_get_data_offset(file_.gguf.get()) +
                                          gguf_get_tensor_offset(file_.gguf.get(), tensor.source)));
    const bool same = tensor.shape.columns == part.columns && tensor.shape.rows == part.rows;
    std::vector<char> bytes(same ? std::min(size, copied_at_once) : size);
    for (std::size_t done = 0; done < size; done += bytes.size()) {
      bytes.resize(std::min(bytes.size(), size - done));
      in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      if (!in_ || (same && !writer_.put(bytes))) return false;
    }
    if (same) return writer_.pad(size, alignment());
    filler_.write(tensor, part, bytes, alignment(), out_);
    return out_ && progress_.add(0);
  }

  static constexpr std::size_t copied_at_once = 1 << 22;

  const Source& file_;
  std::ifstream in_;
  std::ofstream out_;
  WriteProgress& progress_;
  Filler filler_;
  synth::Plan chance_;  // its seed is all that is used
  TensorWriter writer_{chance_, out_, progress_};
};

util::Result<void> write_heavier(const protocol::Synth& job, const std::string& path,
                                 JobPort& port) {
  PACELINE_TRY_ASSIGN(const Source file, open_source(job.source_path));
  const std::vector<SourceTensor> sources = source_tensors(file);
  PACELINE_TRY_ASSIGN(const Ballast ballast, plan_ballast(job, file.head, sources));
  const std::vector<HeavyTensor> tensors = plan_heavier(sources, ballast);
  WriteProgress progress(port);
  errno = 0;
  const bool written =
      CopyWriter(file, path, progress).write(head_of(file, ballast, tensors), sources, tensors);
  if (progress.cancelled())
    return refuse("Stopped; nothing of '{}' is left.", job.destination_path);
  return written ? util::Result<void>{} : not_written(job.destination_path);
}

}  // namespace

util::Result<void> synthesize(const protocol::Synth& job, JobPort& port) {
  try {
    PACELINE_TRY(check_job(job));
    PACELINE_TRY(model::check_laboratory_file(job.source_path));
    const Unfinished heavier(job.destination_path, "heavier");
    const Unfinished quantised(job.destination_path, "quantised");
    if (job.is_heavier()) PACELINE_TRY(write_heavier(job, heavier.path(), port));
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
