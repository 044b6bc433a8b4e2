#include "worker/llama/context_need.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "ggml-backend.h"
#include "llama-cpp.h"
#include "llama-ext.h"

namespace paceline::worker {

namespace {

/// A context of it takes some 60 MB of bookkeeping though no cache is allocated.
constexpr unsigned longest_planned = 1u << 20;

/// What it says of a plan it says again of the real thing.
class QuietLibrary {
 public:
  QuietLibrary() {
    llama_log_get(&callback_, &user_data_);
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  }
  ~QuietLibrary() { llama_log_set(callback_, user_data_); }
  QuietLibrary(const QuietLibrary&) = delete;
  QuietLibrary& operator=(const QuietLibrary&) = delete;

 private:
  ggml_log_callback callback_ = nullptr;
  void* user_data_ = nullptr;
};

std::optional<ContextNeed> plan_one(llama_model* model, llama_context_params parameters,
                                    unsigned n_ctx) {
  parameters.n_ctx = n_ctx;
  const llama_context_ptr context(llama_init_from_model(model, parameters));
  if (context == nullptr) return std::nullopt;
  ContextNeed need;
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context.get())) {
    need.context_bytes += bytes.context;
    need.compute_bytes += bytes.compute;
    ggml_backend_dev_t device = ggml_backend_buft_get_device(type);
    if (device == nullptr || ggml_backend_buft_is_host(type) ||
        ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU)
      need.main_memory_bytes += bytes.context + bytes.compute;
  }
  return need;
}

/// On the straight line through two plans.
ContextNeed extended(const ContextNeed& half, const ContextNeed& whole, unsigned n_ctx) {
  const double halves = static_cast<double>(n_ctx - longest_planned) / (longest_planned / 2);
  const auto at = [&](std::uint64_t ContextNeed::*bytes) {
    const double step = static_cast<double>(whole.*bytes) - static_cast<double>(half.*bytes);
    return whole.*bytes + static_cast<std::uint64_t>(std::llround(std::max(0.0, step) * halves));
  };
  return {at(&ContextNeed::context_bytes), at(&ContextNeed::compute_bytes),
          at(&ContextNeed::main_memory_bytes)};
}

}  // namespace

std::optional<ContextNeed> plan_context(const std::string& path, llama_model_params model,
                                        llama_context_params context) {
  const QuietLibrary quiet;
  model.no_alloc = true;
  model.load_mode = LLAMA_LOAD_MODE_NONE;
  const llama_model_ptr planned(llama_model_load_from_file(path.c_str(), model));
  if (planned == nullptr) return std::nullopt;
  const auto whole =
      plan_one(planned.get(), context, std::min<unsigned>(context.n_ctx, longest_planned));
  if (!whole || context.n_ctx <= longest_planned) return whole;
  const auto half = plan_one(planned.get(), context, longest_planned / 2);
  if (!half) return std::nullopt;
  return extended(*half, *whole, context.n_ctx);
}

std::string need_text(const ContextNeed& need) {
  return fmt::format("context {} bytes, compute {} bytes", need.context_bytes, need.compute_bytes);
}

std::optional<std::uint64_t> main_memory_left() {
  std::ifstream file("/proc/meminfo");
  std::optional<std::uint64_t> left;
  for (std::string name; file >> name;) {
    if (name != "MemAvailable:" && name != "SwapFree:") continue;
    std::uint64_t kilobytes = 0;
    if (file >> kilobytes) left = left.value_or(0) + kilobytes * 1024;
  }
  return left;
}

}  // namespace paceline::worker
