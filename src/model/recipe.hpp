#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/file_facts.hpp"
#include "model/gguf.hpp"

namespace paceline::model {

/// Which class of tensors a name belongs to, and in which block it stands.
struct TensorPlace {
  std::string tensor_class;  ///< without block number and ".weight"
  int block = -1;            ///< -1: outside the blocks
};

TensorPlace place_of(const std::string& tensor_name);

/// Sums tensors up by class and type, in the order in which classes first come.
class Recipe {
 public:
  void add(const Tensor& tensor);

  /// One group for each class and type. Classes past the 200th are summed up as "(other classes)",
  /// by type: a hostile file may have as many classes as tensors.
  std::vector<TensorGroup> groups() const;

  std::uint64_t elements() const { return elements_; }

 private:
  struct Sum {
    TensorGroup group;
    std::set<int> blocks;
  };
  using Key = std::pair<std::size_t, std::string>;  ///< place of the class in the order, and type

  std::map<std::string, std::size_t> classes_;
  std::map<Key, Sum> sums_;
  std::uint64_t elements_ = 0;
};

}  // namespace paceline::model
