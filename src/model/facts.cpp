#include "model/facts.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/drafter.hpp"
#include "model/reading.hpp"
#include "model/recipe.hpp"
#include "model/split.hpp"
#include "model/tensor_type.hpp"
#include "model/vocabulary.hpp"
#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::size_t longest_text = 200;
constexpr std::size_t longest_oddity = 400;
constexpr std::size_t most_oddities = 30;
constexpr std::size_t most_sampling_keys = 64;
constexpr std::string_view sampling_prefix = "general.sampling.";

/// Printable and not longer than a line or two.
std::string shown(std::string_view hostile, std::size_t longest) {
  if (hostile.size() <= longest) return util::printable(hostile);
  return util::printable(hostile.substr(0, longest)) + fmt::format(".. ({} bytes)", hostile.size());
}

std::string as_text(const Value& value) {
  return std::visit(
      [](const auto& data) -> std::string {
        using Data = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<Data, std::string>)
          return shown(data, longest_text);
        else if constexpr (std::is_same_v<Data, Array>)
          return fmt::format("(a list of {})", data.count);
        else
          return fmt::format("{}", data);
      },
      value.data);
}

class Describer {
 public:
  explicit Describer(const Gguf& file) : file_(file), set_(find_split(file)), head_(*set_.first) {}

  FileFacts describe() {
    facts_.path = file_.path();
    facts_.gguf_version = file_.version();
    facts_.architecture = shown(head_.architecture(), longest_text);
    facts_.name = shown(head_.text("general.name").value_or(""), longest_text);
    facts_.split = set_.facts;
    facts_.has_chat_template = !head_.text("tokenizer.chat_template").value_or("").empty();
    odd_head();
    add_tensors();
    add_numbers();
    add_file_type();
    add_imatrix();
    add_sampling();
    add_synthetic();
    add_rope_scaling();
    for (std::string& oddity : set_.oddities) odd(oddity);
    bound_oddities();
    return std::move(facts_);
  }

 private:
  void odd(const std::string& text) { facts_.oddities.push_back(shown(text, longest_oddity)); }

  void odd_head() {
    if (head_.architecture().empty()) odd("no general.architecture: no engine can load it");
    if (file_.another_follows())
      odd(
          fmt::format("another GGUF file begins {} bytes before its end: split files are not to be "
                      "joined with cat, but with `llama-gguf-split --merge`",
                      file_.trailing_bytes()));
    else if (file_.trailing_bytes() > 0)
      odd(fmt::format("{} bytes follow its last tensor", file_.trailing_bytes()));
  }

  void add_tensors() {
    const auto tensors = tensors_of(file_, set_);
    facts_.file_bytes = file_.file_bytes();
    for (const Gguf& other : set_.others) facts_.file_bytes += other.file_bytes();
    Recipe recipe;
    for (const Tensor* tensor : tensors) recipe.add(*tensor);
    facts_.recipe = recipe.groups();
    facts_.parameters = recipe.elements();
    if (tensors.empty()) odd("it has no tensors");
    for (const Tensor* tensor : tensors)
      if (!tensor->bytes) {
        odd(fmt::format("tensor '{}' is of {}: sizes are not known", util::printable(tensor->name),
                        tensor_type_name(tensor->type)));
        break;
      }
    facts_.drafter = find_drafter(head_, tensors, facts_.oddities);
    add_reads(tensors);
  }

  void add_reads(const std::vector<const Tensor*>& tensors) {
    if (set_.facts && set_.facts->present < set_.facts->count) {
      facts_.reads_unknown = "not all files of the split model are there";
      return;
    }
    auto reads = reads_of(head_, tensors);
    if (!reads) {
      facts_.reads_unknown = shown(reads.error().message, longest_oddity);
      return;
    }
    facts_.reads = std::move(*reads);
    if (!facts_.drafter || facts_.drafter->kind != "mtp") return;
    if (auto predicting = prediction_reads_of(head_, tensors))
      facts_.drafter->reads = std::move(*predicting);
  }

  void add_numbers() {
    facts_.layers = count_of(head_.architecture() + ".block_count");
    facts_.embedding_length = count_of(head_.architecture() + ".embedding_length");
    facts_.context_train = count_of(head_.architecture() + ".context_length");
    if (const auto problem = vocabulary_problem(head_)) odd(*problem);
    const auto vocabulary = head_.vocabulary();
    if (vocabulary && *vocabulary >= 0 && std::in_range<int>(*vocabulary))
      facts_.vocabulary = static_cast<int>(*vocabulary);
  }

  /// A number of things; absent, with an oddity, for what cannot be one.
  std::optional<int> count_of(const std::string& key) {
    const Value* value = head_.find(key);
    if (value == nullptr) return std::nullopt;
    const auto number = head_.number(key);
    if (number && *number >= 0 && std::in_range<int>(*number)) return static_cast<int>(*number);
    odd(fmt::format("{} is {}, which makes no sense", util::printable(key), as_text(*value)));
    return std::nullopt;
  }

  void add_file_type() {
    const Value* value = head_.find("general.file_type");
    if (value == nullptr) return;
    const auto number = head_.number("general.file_type");
    if (number)
      facts_.file_type = file_type_name(*number);
    else
      odd(fmt::format("general.file_type is {}, not a whole number", as_text(*value)));
  }

  void add_imatrix() {
    const auto text = [this](const char* key) {
      auto found = head_.text(key);
      if (found) found = shown(*found, longest_text);
      return found;
    };
    const Imatrix found{text("quantize.imatrix.file"), text("quantize.imatrix.dataset"),
                        head_.number("quantize.imatrix.entries_count"),
                        head_.number("quantize.imatrix.chunks_count")};
    if (found.file || found.dataset || found.entries || found.chunks) facts_.imatrix = found;
  }

  void add_sampling() {
    const auto& values = head_.values();
    for (auto at = values.lower_bound(std::string(sampling_prefix));
         at != values.end() && at->first.starts_with(sampling_prefix); ++at) {
      if (facts_.sampling.size() == most_sampling_keys) return odd("more sampling keys than shown");
      facts_.sampling[shown(at->first, longest_text)] = as_text(at->second);
    }
  }

  /// Absent where it is 0, by which llama.cpp means that there is none, and where it makes no
  /// sense.
  std::optional<double> factor_of(const std::string& key) {
    const Value* value = head_.find(key);
    const auto* factor = value == nullptr ? nullptr : std::get_if<float>(&value->data);
    if (factor == nullptr || *factor == 0) return std::nullopt;
    if (*factor > 0 && std::isfinite(*factor)) return *factor;
    odd(fmt::format("{} is {}, which makes no sense", util::printable(key), as_text(*value)));
    return std::nullopt;
  }

  /// By llama.cpp's rule, which takes a factor without a type as a linear one.
  void add_rope_scaling() {
    const std::string prefix = head_.architecture() + ".rope.";
    const auto type = head_.text(prefix + "scaling.type");
    auto factor = factor_of(prefix + "scaling.factor");
    if (!factor) factor = factor_of(prefix + "scale_linear");
    if (!type && !factor) return;
    facts_.rope_scaling = RopeScaling{shown(type.value_or("linear"), longest_text), factor,
                                      count_of(prefix + "scaling.original_context_length")};
  }

  /// What `paceline synth` writes into its files.
  void add_synthetic() {
    if (!head_.flag("paceline.synthetic").value_or(false)) return;
    facts_.synthetic = shown(head_.text("paceline.synthetic.made_as").value_or(""), longest_text);
  }

  void bound_oddities() {
    if (facts_.oddities.size() <= most_oddities) return;
    const std::size_t more = facts_.oddities.size() - most_oddities;
    facts_.oddities.resize(most_oddities);
    facts_.oddities.push_back(fmt::format("and {} more oddities", more));
  }

  const Gguf& file_;
  SplitSet set_;
  const Gguf& head_;
  FileFacts facts_;
};

}  // namespace

util::Result<FileFacts> read_file_facts(const std::string& path) {
  PACELINE_TRY_ASSIGN(const Gguf file, Gguf::open(path));
  return facts_of(file);
}

FileFacts facts_of(const Gguf& file) { return Describer(file).describe(); }

}  // namespace paceline::model
