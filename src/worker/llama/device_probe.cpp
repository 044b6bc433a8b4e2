#include "worker/llama/device_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "ggml.h"
#include "worker/heartbeat.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/runtime.hpp"

namespace paceline::worker {

namespace {

using Clock = std::chrono::steady_clock;
using F16 = std::uint16_t;

constexpr std::uint64_t row_length = 4096;
constexpr std::uint64_t row_bytes = row_length * sizeof(F16);
constexpr F16 one = 0x3C00;
constexpr int fewest_samples = 3;
constexpr int most_samples = 10;
constexpr double seconds_each = 0.3;
constexpr double rounding = 0.01;  ///< some devices sum in 16 bits

/// One device with a matrix of ones, a vector of ones and their product.
class Bench {
 public:
  static util::Result<Bench> make(ggml_backend_dev_t device, std::uint64_t rows, int threads) {
    Bench bench;
    bench.backend_.reset(ggml_backend_dev_init(device, nullptr));
    if (!bench.backend_) return refuse("the device cannot be opened: {}", library_reason());
    set_threads(device, bench.backend_.get(), threads);
    bench.context_.reset(ggml_init({.mem_size = 4 * ggml_tensor_overhead() + ggml_graph_overhead(),
                                    .mem_buffer = nullptr,
                                    .no_alloc = true}));
    ggml_context* context = bench.context_.get();
    if (context == nullptr) return refuse("ggml has no memory for a graph");
    bench.matrix_ =
        ggml_new_tensor_2d(context, GGML_TYPE_F16, row_length, static_cast<std::int64_t>(rows));
    bench.vector_ = ggml_new_tensor_1d(context, GGML_TYPE_F32, row_length);
    bench.product_ = ggml_mul_mat(context, bench.matrix_, bench.vector_);
    if (!ggml_backend_dev_supports_op(device, bench.product_))
      return refuse("the device multiplies no matrix of F16 with a vector");
    bench.graph_ = ggml_new_graph(context);
    ggml_build_forward_expand(bench.graph_, bench.product_);
    bench.buffer_.reset(ggml_backend_alloc_ctx_tensors(context, bench.backend_.get()));
    if (!bench.buffer_) return refuse("the device has no memory of {} bytes", rows * row_bytes);
    bench.host_.assign(rows * row_length, one);
    const std::vector<float> ones(row_length, 1.0F);
    ggml_backend_tensor_set(bench.vector_, ones.data(), 0, ggml_nbytes(bench.vector_));
    return bench;
  }

  std::uint64_t bytes() const { return ggml_nbytes(matrix_); }

  void upload() {
    ggml_backend_tensor_set(matrix_, host_.data(), 0, bytes());
    ggml_backend_synchronize(backend_.get());
  }

  void download() {
    ggml_backend_tensor_get(matrix_, host_.data(), 0, bytes());
    ggml_backend_synchronize(backend_.get());
  }

  /// False when the device says that it failed.
  bool multiply() {
    return ggml_backend_graph_compute(backend_.get(), graph_) == GGML_STATUS_SUCCESS;
  }

  /// Whether every row was summed: a sum of as many ones as a row is long.
  bool product_is_right() const {
    std::vector<float> sums(ggml_nbytes(product_) / sizeof(float));
    ggml_backend_tensor_get(product_, sums.data(), 0, ggml_nbytes(product_));
    return std::all_of(sums.begin(), sums.end(), [](float sum) {
      return std::abs(sum - row_length) <= rounding * row_length;
    });
  }

  bool copies_are_right() const {
    return std::all_of(host_.begin(), host_.end(), [](F16 value) { return value == one; });
  }

  void forget_host() { std::fill(host_.begin(), host_.end(), F16{0}); }

 private:
  Bench() = default;

  static void set_threads(ggml_backend_dev_t device, ggml_backend_t backend, int threads) {
    auto* set = reinterpret_cast<ggml_backend_set_n_threads_t>(ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggml_backend_set_n_threads"));
    if (set != nullptr) set(backend, threads);
  }

  ggml_backend_ptr backend_;
  ggml_context_ptr context_;
  ggml_backend_buffer_ptr buffer_;
  ggml_tensor* matrix_ = nullptr;
  ggml_tensor* vector_ = nullptr;
  ggml_tensor* product_ = nullptr;
  ggml_cgraph* graph_ = nullptr;
  std::vector<F16> host_;
};

/// Bytes/s of each repeat, after one that does not count.
std::vector<double> rates(std::uint64_t bytes, const std::function<void()>& once) {
  once();
  std::vector<double> rates;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds_each);
  while (rates.size() < fewest_samples || (rates.size() < most_samples && Clock::now() < until)) {
    const auto began = Clock::now();
    once();
    rates.push_back(static_cast<double>(bytes) /
                    std::chrono::duration<double>(Clock::now() - began).count());
  }
  return rates;
}

util::Result<trace::DeviceSpeed> measure(ggml_backend_dev_t device,
                                         const protocol::ProbeDevices& job) {
  std::size_t free = 0;
  std::size_t total = 0;
  ggml_backend_dev_memory(device, &free, &total);
  // A device that shares the host's memory may tell of none.
  const std::uint64_t bytes = free == 0 ? job.bytes : std::min<std::uint64_t>(job.bytes, free / 4);
  if (bytes < row_bytes) return refuse("the device has {} bytes left, too few to measure", free);
  PACELINE_TRY_ASSIGN(Bench bench, Bench::make(device, bytes / row_bytes, job.threads));
  trace::DeviceSpeed speed;
  speed.bytes = bench.bytes();
  speed.upload_bytes_per_s = rates(bench.bytes(), [&] { bench.upload(); });
  bench.forget_host();
  speed.download_bytes_per_s = rates(bench.bytes(), [&] { bench.download(); });
  if (!bench.copies_are_right()) return refuse("the device gave back other bytes than it got");
  bool done = true;
  speed.read_bytes_per_s = rates(bench.bytes(), [&] { done = bench.multiply() && done; });
  if (!done) return refuse("the device could not compute: {}", library_reason());
  if (!bench.product_is_right()) return refuse("the device computed a wrong product");
  return speed;
}

trace::Finished probe_all(const protocol::ProbeDevices& job, JobPort& port) {
  if (job.threads < 1 || job.bytes < row_bytes)
    return refused("A probe of devices needs at least one thread and a row of bytes.");
  if (const auto started = start_runtime(); !started) return refused(started.error().message);
  Heartbeat heartbeat(port);
  trace::DeviceSpeeds speeds;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    if (heartbeat.interrupted())
      return finished(trace::OutcomeKind::cancelled, "The probe was cancelled while it ran.");
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    auto speed = measure(device, job);
    speeds.list.push_back(speed ? std::move(*speed) : trace::DeviceSpeed{});
    speeds.list.back().name = ggml_backend_dev_name(device);
    if (!speed) speeds.list.back().reason = speed.error().message;
  }
  port.say(std::move(speeds));
  return {};
}

}  // namespace

trace::Finished probe_devices(const protocol::ProbeDevices& job, JobPort& port) {
  try {
    return probe_all(job, port);
  } catch (const std::exception& problem) {
    return refused(fmt::format("ggml gave up on the probe of devices: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
