#include "model/recipe.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>

#include "model/tensor_type.hpp"
#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::size_t most_classes = 200;
constexpr std::size_t most_types = 100;
constexpr std::size_t most_ranges = 40;
constexpr std::string_view block_prefix = "blk.";
constexpr std::string_view weight_suffix = ".weight";

/// "0-3, 7" for {0, 1, 2, 3, 7}.
std::string ranges(const std::set<int>& numbers) {
  std::string text;
  std::size_t count = 0;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    if (++count > most_ranges) return text + ", ..";
    if (!text.empty()) text += ", ";
    text += first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

/// Sums stay at the largest number rather than start over: elements are checked per tensor only.
void add_up(std::uint64_t more, std::uint64_t& sum) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

TensorPlace place_of(const std::string& tensor_name) {
  TensorPlace place{tensor_name, -1};
  std::string& name = place.tensor_class;
  if (name.size() > weight_suffix.size() && name.ends_with(weight_suffix))
    name.erase(name.size() - weight_suffix.size());
  std::size_t at = 0;
  while ((at = name.find(block_prefix, at)) != std::string::npos) {
    const bool starts_a_word = at == 0 || name[at - 1] == '.';
    const char* digits = name.data() + at + block_prefix.size();
    int block = 0;
    const auto [end, problem] = std::from_chars(digits, name.data() + name.size(), block);
    if (starts_a_word && problem == std::errc{} && block >= 0 && end != name.data() + name.size() &&
        *end == '.') {
      place.block = block;
      name.erase(at, static_cast<std::size_t>(end + 1 - name.data()) - at);
      break;
    }
    ++at;
  }
  return place;
}

void Recipe::add(const Tensor& tensor) {
  const TensorPlace place = place_of(tensor.name);
  auto found = classes_.find(place.tensor_class);
  if (found == classes_.end() && classes_.size() < most_classes)
    found = classes_.emplace(place.tensor_class, classes_.size()).first;
  const bool listed = found != classes_.end();
  std::string type = tensor_type_name(tensor.type);
  Key key{listed ? found->second : most_classes, std::move(type)};
  if (sums_.size() >= most_classes + most_types && !sums_.contains(key))
    key = {most_classes, "other types"};
  Sum& sum = sums_[key];
  TensorGroup& group = sum.group;
  if (group.tensors == 0) {
    const bool kept = key.first != most_classes;
    group.tensor_class = kept ? util::printable(place.tensor_class) : "(other classes)";
    group.type = key.second;
    group.bytes = 0;
  }
  ++group.tensors;
  add_up(tensor.elements, group.elements);
  add_up(tensor.elements, elements_);
  if (!tensor.bytes)
    group.bytes.reset();
  else if (group.bytes)
    add_up(*tensor.bytes, *group.bytes);
  if (listed && place.block >= 0) sum.blocks.insert(place.block);
}

std::vector<TensorGroup> Recipe::groups() const {
  std::vector<TensorGroup> groups;
  for (const auto& [key, sum] : sums_) {
    groups.push_back(sum.group);
    groups.back().blocks = ranges(sum.blocks);
  }
  return groups;
}

}  // namespace paceline::model
