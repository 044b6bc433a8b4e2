#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "llama.h"
#include "trace/observation.hpp"

namespace paceline::worker {

/// What the graphs of a context read between two looks at them.
struct GraphReads {
  int tokens = 0;    ///< that were embedded
  int forwards = 0;  ///< graphs that took in tokens or a target's features
  std::map<std::string, std::uint64_t> bytes;     ///< by class
  std::map<int, std::set<std::int32_t>> experts;  ///< different ones, by layer

  /// Different experts of a layer in the mean; absent: none were read.
  std::optional<double> experts_per_layer() const;
};

/// Counts what the graphs of one context read while they are computed, by the operands of their
/// nodes: an operand that names a tensor of the model or of its memory is read once by each node.
class GraphWatch {
 public:
  /// `classes` by tensor name, of all files that the context reads (model::classes_of).
  explicit GraphWatch(std::map<std::string, std::string> classes) : classes_(std::move(classes)) {}

  /// To be called for each node of the context that is made with these.
  void attach(llama_context_params& parameters);

  /// What was read since the last call, a piece for each graph that embedded tokens.
  std::vector<GraphReads> take();

  /// How the target's tables were gathered from so far.
  std::vector<trace::ObservedTable> tables() const;

  /// Which experts all tokens so far were sent to; absent: none were.
  std::optional<trace::ObservedExperts> experts() const;

  /// Forgets everything.
  void clear();

 private:
  struct Table {
    trace::ObservedTable sums;
    std::set<std::int32_t> rows;
    std::uint64_t last_page = 0;
    double pages = 0;  ///< different ones, summed over tokens
  };

  static bool call(ggml_tensor* node, bool ask, void* self);
  bool see(ggml_tensor* node, bool ask);
  void count(const ggml_tensor* node, int place);
  void count_weight(const ggml_tensor* node, int place, const std::string& name,
                    const std::string& class_name);
  void count_memory(const ggml_tensor* node, int place, const std::string& name);
  void note_rows(const ggml_tensor* node, const std::string& name);
  void note_experts(const ggml_tensor* node, const std::string& name);
  GraphReads& now();

  std::map<std::string, std::string> classes_;
  std::vector<GraphReads> graphs_;
  std::map<std::string, Table> tables_;                         ///< by tensor name
  std::map<int, std::map<std::int32_t, std::uint64_t>> picks_;  ///< by layer and expert
  int expert_count_ = 0;
};

}  // namespace paceline::worker
