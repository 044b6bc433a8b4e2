#include "model/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/tensor_type.hpp"
#include "util/misused.hpp"
#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::int64_t cell_step = 256;  // llama.cpp reads so many cells of a cache at once
constexpr int widest = 1 << 16;

std::int64_t padded(std::int64_t cells) { return (cells + cell_step - 1) / cell_step * cell_step; }

/// Bytes of one element of a cache, of whole rows.
util::Result<double> element_bytes(const std::string& type) {
  for (const TensorType& known : tensor_types())
    if (known.name == type)
      return static_cast<double>(known.bytes) / static_cast<double>(known.block);
  return util::misused("'{}' is no type that a KV cache can have", util::printable(type));
}

/// Sums by class, in the order in which classes first come.
class Sums {
 public:
  void add(const std::string& name, double bytes, bool is_model = false) {
    if (bytes <= 0) return;
    const auto found = std::find_if(classes_.begin(), classes_.end(),
                                    [&](const BytesOfClass& one) { return one.name == name; });
    if (found == classes_.end())
      classes_.push_back({name, bytes, is_model});
    else
      found->bytes += bytes;
  }

  void add(const std::vector<WeightsRead>& weights) {
    for (const WeightsRead& one : weights) add(one.name, static_cast<double>(one.bytes));
  }

  std::vector<BytesOfClass> take() { return std::move(classes_); }

 private:
  std::vector<BytesOfClass> classes_;
};

struct ElementBytes {
  double key = 0;
  double value = 0;
};

util::Result<ElementBytes> check_shape(const PassShape& shape) {
  if (shape.width < 1 || shape.width > widest)
    return util::misused("a pass of {} tokens: 1 to {} make sense", shape.width, widest);
  if (shape.depth < 0 || shape.n_ctx < 1 || shape.depth > shape.n_ctx - shape.width)
    return util::misused("{} tokens behind {} do not fit into a context of {}", shape.width,
                         shape.depth, shape.n_ctx);
  if (shape.n_ubatch < 1) return util::misused("{} tokens computed at once", shape.n_ubatch);
  ElementBytes bytes;
  PACELINE_TRY_ASSIGN(bytes.key, element_bytes(shape.cache_type_k));
  PACELINE_TRY_ASSIGN(bytes.value, element_bytes(shape.cache_type_v));
  return bytes;
}

/// Cells that a layer reads once so many tokens are in the cache: all that is allocated up to the
/// last one used, whatever a mask leaves out of them.
double cells(const CacheRead& cache, int tokens, const PassShape& shape) {
  std::int64_t allocated = padded(shape.n_ctx);
  if (cache.window > 0 && !shape.swa_full)
    allocated =
        padded(std::min<std::int64_t>(allocated, std::int64_t{cache.window} + shape.n_ubatch));
  return static_cast<double>(std::min(allocated, padded(tokens)));
}

void add_experts(const ExpertsRead& experts, int width, const PassShape& shape, Sums& sums) {
  if (experts.used < 1 || experts.used > experts.count) return;
  const double one_token = static_cast<double>(experts.used) / experts.count;
  double share = 1 - std::pow(1 - one_token, width);
  if (width == 1) share = one_token;
  if (shape.experts_per_layer) share = *shape.experts_per_layer / experts.count;
  sums.add("experts", share * static_cast<double>(experts.bytes),
           width > 1 && !shape.experts_per_layer);
}

/// What is computed at once: `width` tokens behind `depth` of them.
void add_piece(const ReadFacts& facts, int width, int depth, const PassShape& shape,
               const ElementBytes& element, Sums& sums) {
  for (const RowsRead& one : facts.rows)
    sums.add(one.name,
             static_cast<double>(std::max<std::int64_t>(0, std::int64_t{width} - one.spared)) *
                 static_cast<double>(one.rows) * static_cast<double>(one.row_bytes));
  sums.add(facts.weights);
  if (facts.experts) add_experts(*facts.experts, width, shape, sums);
  for (const CacheRead& cache : facts.caches)
    sums.add("KV", cache.layers * cells(cache, depth + width, shape) *
                       (static_cast<double>(cache.key_elements) * element.key +
                        static_cast<double>(cache.value_elements) * element.value));
  sums.add("recurrent state", static_cast<double>(facts.recurrent_bytes));
}

void add_pass(const ReadFacts& facts, const PassShape& shape, const ElementBytes& element,
              Sums& sums) {
  for (int done = 0; done < shape.width; done += std::min(shape.n_ubatch, shape.width - done))
    add_piece(facts, std::min(shape.n_ubatch, shape.width - done), shape.depth + done, shape,
              element, sums);
}

}  // namespace

util::Result<std::vector<BytesOfClass>> bytes_of_pass(const ReadFacts& facts,
                                                      const PassShape& shape) {
  PACELINE_TRY_ASSIGN(const ElementBytes element, check_shape(shape));
  Sums sums;
  add_pass(facts, shape, element, sums);
  return sums.take();
}

util::Result<std::vector<BytesOfClass>> bytes_of_taking_in(const ReadFacts& drafter,
                                                           const PassShape& shape) {
  PACELINE_TRY_ASSIGN(const ElementBytes element, check_shape(shape));
  Sums sums;
  for (int done = 0; done < shape.width; done += std::min(shape.n_ubatch, shape.width - done))
    sums.add(drafter.taking_in);
  if (drafter.takes_in_by_pass) add_pass(drafter, shape, element, sums);
  std::vector<BytesOfClass> classes = sums.take();
  if (!drafter.takes_in_with_head)
    std::erase_if(classes, [](const BytesOfClass& one) { return one.name == "head"; });
  return classes;
}

util::Result<std::vector<BytesOfClass>> bytes_of_draft(const ReadFacts& drafter, int tokens,
                                                       const PassShape& shape) {
  if (tokens < 1 || tokens > widest) return util::misused("a draft of {} tokens", tokens);
  PassShape pass = shape;
  pass.width = drafter.block_anchors ? tokens + std::clamp(*drafter.block_anchors, 0, 1) : 1;
  Sums sums;
  for (int done = 0; done < (drafter.block_anchors ? 1 : tokens); ++done) {
    PACELINE_TRY_ASSIGN(const ElementBytes element, check_shape(pass));
    add_pass(drafter, pass, element, sums);
    ++pass.depth;
  }
  return sums.take();
}

ReadFacts with_borrowed(ReadFacts drafter, const ReadFacts& target) {
  const auto is_borrowed = [&](const auto& one) {
    return std::find(drafter.borrowed.begin(), drafter.borrowed.end(), one.name) !=
           drafter.borrowed.end();
  };
  std::copy_if(target.weights.begin(), target.weights.end(), std::back_inserter(drafter.weights),
               is_borrowed);
  std::copy_if(target.rows.begin(), target.rows.end(), std::back_inserter(drafter.rows),
               is_borrowed);
  drafter.borrowed.clear();
  return drafter;
}

double parameters_of_token(const ReadFacts& facts) {
  double read = 0;
  for (const WeightsRead& one : facts.weights) read += static_cast<double>(one.elements);
  for (const RowsRead& one : facts.rows)
    if (one.spared == 0)
      read += static_cast<double>(one.rows) * static_cast<double>(one.row_elements);
  if (facts.experts && facts.experts->count > 0)
    read +=
        static_cast<double>(facts.experts->elements) * facts.experts->used / facts.experts->count;
  return read;
}

double total_bytes(const std::vector<BytesOfClass>& classes) {
  double total = 0;
  for (const BytesOfClass& one : classes) total += one.bytes;
  return total;
}

}  // namespace paceline::model
