#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "synth/plan.hpp"
#include "worker/llama/write_progress.hpp"

namespace paceline::worker {

/// Writes the tensors of a plan, a few rows at a time, as ggml quantises them.
///
/// A matrix of up to 2 M elements is random throughout, and so are embedding and head of any size.
/// Of a larger one that many elements are drawn and quantised, once for all matrices with rows of
/// that type, length and size of elements; each row is then a random one of these, its blocks
/// turned by a random number of places.
class TensorWriter {
 public:
  TensorWriter(const synth::Plan& plan, std::ostream& out, WriteProgress& progress)
      : plan_(plan), out_(out), progress_(progress) {}

  /// Writes bytes that are there already; false as below.
  bool put(std::span<const char> bytes);

  /// Writes zeros behind so many bytes, up to where the next tensor may begin.
  bool pad(std::uint64_t written, std::uint64_t alignment);

  /// False when the disk did not go along or the job was cancelled.
  bool write(const synth::TensorPlan& tensor);

 private:
  using PoolKey = std::tuple<std::uint32_t, std::int64_t, double>;

  bool write_drawn(const synth::TensorPlan& tensor);
  bool write_tiled(const synth::TensorPlan& tensor);
  const std::vector<char>& pool_of(const synth::TensorPlan& tensor);
  void draw_row(const synth::TensorPlan& tensor, std::int64_t row, std::span<float> values);
  const std::vector<std::int32_t>& rows_before(double agreement);

  const synth::Plan& plan_;
  std::ostream& out_;
  WriteProgress& progress_;
  std::map<PoolKey, std::vector<char>> pools_;
  std::map<double, std::vector<std::int32_t>> walks_;
};

}  // namespace paceline::worker
