#include "synth/head.hpp"

#include <type_traits>
#include <utility>

namespace paceline::synth {

namespace {

using model::Value;
using model::ValueType;

template <class Number>
Value list(ValueType type, const std::vector<Number>& numbers) {
  model::Array array{.type = type, .count = numbers.size(), .numbers = {}};
  for (const Number number : numbers) array.numbers.push_back(static_cast<std::int64_t>(number));
  return {ValueType::array, std::move(array)};
}

// As model::GgufReader would have read each of them.
Value as_read(std::uint32_t value) { return {ValueType::u32, std::uint64_t{value}}; }
Value as_read(std::uint64_t value) { return {ValueType::u64, value}; }
Value as_read(float value) { return {ValueType::f32, value}; }
Value as_read(bool value) { return {ValueType::boolean, value}; }
Value as_read(const std::string& value) { return {ValueType::string, value}; }
Value as_read(const std::vector<std::uint32_t>& value) { return list(ValueType::u32, value); }
Value as_read(const std::vector<std::uint64_t>& value) { return list(ValueType::u64, value); }
Value as_read(const std::vector<bool>& value) { return list(ValueType::boolean, value); }

}  // namespace

model::Gguf head_of(const Plan& plan) {
  std::map<std::string, Value> values;
  for (const Key& key : plan.keys)
    values[key.name] = std::visit([](const auto& value) { return as_read(value); }, key.value);
  std::vector<model::Tensor> tensors;
  for (const TensorPlan& planned : plan.tensors) {
    model::Tensor tensor;
    tensor.name = planned.name;
    for (const std::int64_t size : planned.dimensions)
      tensor.dimensions.push_back(static_cast<std::uint64_t>(size));
    tensor.type = planned.type;
    tensor.elements = static_cast<std::uint64_t>(planned.columns() * planned.rows());
    tensor.bytes = planned.bytes();
    tensors.push_back(std::move(tensor));
  }
  return model::Gguf::planned("not written", std::move(values), std::move(tensors));
}

}  // namespace paceline::synth
