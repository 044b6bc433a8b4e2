#include "worker/llama/inventing.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <type_traits>
#include <variant>
#include <vector>

#include "synth/plan.hpp"
#include "worker/llama/gguf_ptr.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/synthetic_tokenizer.hpp"
#include "worker/llama/tensor_writer.hpp"
#include "worker/llama/unfinished.hpp"

namespace paceline::worker {

namespace {

void set_key(gguf_context* gguf, const synth::Key& key) {
  const char* name = key.name.c_str();
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::uint32_t>) {
          gguf_set_val_u32(gguf, name, value);
        } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
          gguf_set_val_u64(gguf, name, value);
        } else if constexpr (std::is_same_v<Value, float>) {
          gguf_set_val_f32(gguf, name, value);
        } else if constexpr (std::is_same_v<Value, bool>) {
          gguf_set_val_bool(gguf, name, value);
        } else if constexpr (std::is_same_v<Value, std::string>) {
          gguf_set_val_str(gguf, name, value.c_str());
        } else if constexpr (std::is_same_v<Value, std::vector<std::uint32_t>>) {
          gguf_set_arr_data(gguf, name, GGUF_TYPE_UINT32, value.data(), value.size());
        } else if constexpr (std::is_same_v<Value, std::vector<std::uint64_t>>) {
          gguf_set_arr_data(gguf, name, GGUF_TYPE_UINT64, value.data(), value.size());
        } else {
          const std::vector<std::int8_t> bytes(value.begin(), value.end());
          gguf_set_arr_data(gguf, name, GGUF_TYPE_BOOL, bytes.data(), bytes.size());
        }
      },
      key.value);
}

util::Result<std::vector<char>> head_of(const synth::Plan& plan) {
  const GgufPtr gguf(gguf_init_empty());
  if (plan.tokenizer_of.empty())
    set_synthetic_tokenizer(plan.shape.vocab, gguf.get());
  else
    PACELINE_TRY(copy_tokenizer(plan.tokenizer_of, plan.shape.vocab, gguf.get()));
  for (const synth::Key& key : plan.keys) set_key(gguf.get(), key);
  const TensorsPtr infos(ggml_init({.mem_size = ggml_tensor_overhead() * (plan.tensors.size() + 1),
                                    .mem_buffer = nullptr,
                                    .no_alloc = true}));
  for (const synth::TensorPlan& tensor : plan.tensors) {
    ggml_tensor* info =
        ggml_new_tensor(infos.get(), static_cast<ggml_type>(tensor.type),
                        static_cast<int>(tensor.dimensions.size()), tensor.dimensions.data());
    ggml_set_name(info, tensor.name.c_str());
    gguf_add_tensor(gguf.get(), info);
  }
  std::vector<char> head(gguf_get_meta_size(gguf.get()));
  gguf_get_meta_data(gguf.get(), head.data());
  return head;
}

/// False when the disk did not go along or the job was cancelled.
bool write_file(const synth::Plan& plan, const std::vector<char>& head, const std::string& path,
                WriteProgress& progress) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(head.data(), static_cast<std::streamsize>(head.size()));
  TensorWriter writer(plan, out, progress);
  for (const synth::TensorPlan& tensor : plan.tensors) {
    if (!writer.write(tensor) || !writer.pad(tensor.bytes(), GGUF_DEFAULT_ALIGNMENT)) return false;
  }
  out.close();
  return static_cast<bool>(out);
}

util::Result<void> check_place(const synth::Plan& plan, const std::string& destination) {
  std::error_code unknown;
  if (std::filesystem::exists(destination, unknown))
    return refuse("'{}' is there already: remove it or name another file.", destination);
  const auto folder = std::filesystem::absolute(destination).parent_path();
  const auto space = std::filesystem::space(folder, unknown);
  if (!unknown && space.available < plan.bytes())
    return refuse("'{}' needs {} MB, and its disk has {} MB left: make room or take a smaller one.",
                  destination, plan.bytes() / 1000000, space.available / 1000000);
  return {};
}

}  // namespace

util::Result<void> invent(const protocol::Invent& job, JobPort& port) {
  try {
    PACELINE_TRY_ASSIGN(const synth::Plan plan, synth::plan(job));
    PACELINE_TRY(check_place(plan, job.destination_path));
    PACELINE_TRY_ASSIGN(const std::vector<char> head, head_of(plan));
    const Unfinished file(job.destination_path, "synthetic");
    WriteProgress progress(port);
    errno = 0;
    const bool written = write_file(plan, head, file.path(), progress);
    if (progress.cancelled())
      return refuse("Stopped; nothing of '{}' is left.", job.destination_path);
    if (written && std::rename(file.path().c_str(), job.destination_path.c_str()) == 0) return {};
    return not_written(job.destination_path);
  } catch (const std::exception& problem) {
    return refuse("'{}' could not be made: {}.", job.destination_path, problem.what());
  }
}

}  // namespace paceline::worker
