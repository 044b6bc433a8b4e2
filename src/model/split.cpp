#include "model/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::size_t most_named = 20;
constexpr std::int64_t most_files = 65535;  // split.count is a u16
constexpr std::size_t digits = 5;

/// "-00002-of-00004.gguf" at the end of a path.
struct ShardName {
  std::string prefix;
  int number = 0;
  int count = 0;
};

std::optional<int> five_digits(std::string_view text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = problem == std::errc{} && end == text.data() + text.size();
  return text.size() == digits && all && number >= 0 ? std::optional<int>(number) : std::nullopt;
}

std::optional<ShardName> shard_name(const std::string& path) {
  constexpr std::string_view of = "-of-";
  constexpr std::string_view suffix = ".gguf";
  constexpr std::size_t length = 1 + digits + of.size() + digits + suffix.size();
  if (path.size() < length || !path.ends_with(suffix)) return std::nullopt;
  const std::string_view tail = std::string_view(path).substr(path.size() - length);
  const auto number = five_digits(tail.substr(1, digits));
  const auto count = five_digits(tail.substr(1 + digits + of.size(), digits));
  if (tail[0] != '-' || tail.substr(1 + digits, of.size()) != of || !number || !count)
    return std::nullopt;
  return ShardName{path.substr(0, path.size() - length), *number, *count};
}

std::string file_name(const std::string& path) {
  return util::printable(std::filesystem::path(path).filename().string());
}

class Finder {
 public:
  Finder(const Gguf& file, SplitSet& set)
      : file_(file), set_(set), name_(shard_name(file.path())) {}

  void find() {
    set_.first = &file_;
    const auto count = file_.number("split.count");
    if (!count) return say_why_not();
    if (*count == 1) return;  // a set of one is a file
    if (*count < 1 || *count > most_files)
      return odd(fmt::format("split.count is {}: of how many files this one is a part is unknown",
                             *count));
    set_.facts.emplace();
    set_.facts->count = static_cast<int>(*count);
    set_.facts->number = number_of_this();
    set_.facts->present = 1;
    look_beside();
    check_set();
  }

 private:
  void odd(std::string text) { set_.oddities.push_back(std::move(text)); }

  void say_why_not() {
    if (file_.find("split.count") != nullptr)
      return odd(
          "split.count is not a whole number: whether this is one file of several is unknown");
    if (name_ && name_->count > 1)
      odd(fmt::format("named as file {} of {}, but it has no split.count", name_->number,
                      name_->count));
  }

  int number_of_this() {
    const auto index = file_.number("split.no");
    const bool told = index && *index >= 0 && *index < set_.facts->count;
    if (!told) odd("split.no does not say which file of the set this is");
    const int number = told ? static_cast<int>(*index) + 1 : name_ ? name_->number : 0;
    if (told && name_ && name_->number != number)
      odd(fmt::format("its name says file {}, split.no says file {}", name_->number, number));
    return number;
  }

  void look_beside() {
    if (!name_ || name_->count != set_.facts->count)
      return odd("not named -00001-of-00002.gguf and so on: the other files cannot be found");
    std::size_t missing = 0;
    set_.others.reserve(std::min<std::size_t>(static_cast<std::size_t>(name_->count), 1024));
    for (int number = 1; number <= name_->count; ++number) {
      if (number == name_->number) continue;
      const std::string path =
          fmt::format("{}-{:05}-of-{:05}.gguf", name_->prefix, number, name_->count);
      std::error_code unknown;
      const bool there = std::filesystem::exists(path, unknown);
      if (there && take(path, number)) continue;
      if (!there && ++missing <= most_named) set_.facts->missing.push_back(file_name(path));
    }
    set_.facts->present += static_cast<int>(set_.others.size());
    if (missing > 0)
      odd(fmt::format("{} of {} files are missing: sizes are those of the files that are there",
                      missing, set_.facts->count));
  }

  /// Reads another file of the set; false when it does not belong to it.
  bool take(const std::string& path, int number) {
    auto other = Gguf::open(path);
    if (!other) {
      odd(other.error().message);
      return false;
    }
    const bool fits = number != set_.facts->number &&
                      other->number("split.count") == set_.facts->count &&
                      other->number("split.no") == number - 1 &&
                      (other->architecture().empty() || file_.architecture().empty() ||
                       other->architecture() == file_.architecture());
    if (!fits) odd(file_name(path) + " belongs to another set: its split keys do not fit");
    if (fits) set_.others.push_back(std::move(*other));
    return fits;
  }

  void check_set() {
    if (set_.facts->number != 1) {
      for (const Gguf& other : set_.others)
        if (other.number("split.no") == 0) set_.first = &other;
      odd(fmt::format("this is file {} of {}: a model is loaded by the name of its first file{}",
                      set_.facts->number, set_.facts->count,
                      set_.first == &file_ ? ", which also holds its keys" : ""));
    }
    std::size_t tensors = file_.tensors().size();
    for (const Gguf& other : set_.others) tensors += other.tensors().size();
    const auto expected = set_.first->number("split.tensors.count");
    if (set_.facts->present == set_.facts->count && expected &&
        *expected != static_cast<std::int64_t>(tensors))
      odd(fmt::format("split.tensors.count says {} tensors, the files have {}", *expected,
                      tensors));
    check_names();
  }

  void check_names() {
    std::vector<std::string_view> names;
    for (const Tensor& tensor : file_.tensors()) names.push_back(tensor.name);
    for (const Gguf& other : set_.others)
      for (const Tensor& tensor : other.tensors()) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
      odd(fmt::format("the tensor '{}' is in two files of the set: they are of different models",
                      util::printable(*twice)));
  }

  const Gguf& file_;
  SplitSet& set_;
  std::optional<ShardName> name_;
};

}  // namespace

SplitSet find_split(const Gguf& file) {
  SplitSet set;
  Finder(file, set).find();
  return set;
}

std::vector<const Tensor*> tensors_of(const Gguf& file, const SplitSet& set) {
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : file.tensors()) tensors.push_back(&tensor);
  for (const Gguf& other : set.others)
    for (const Tensor& tensor : other.tensors()) tensors.push_back(&tensor);
  return tensors;
}

}  // namespace paceline::model
