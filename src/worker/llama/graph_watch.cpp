#include "worker/llama/graph_watch.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "ggml-backend.h"
#include "model/recipe.hpp"

namespace paceline::worker {

namespace {

constexpr std::uint64_t page = 4096;
constexpr const char* embedding = "token_embd.weight";

bool only_looks(ggml_op op) {
  return op == GGML_OP_NONE || op == GGML_OP_VIEW || op == GGML_OP_RESHAPE ||
         op == GGML_OP_PERMUTE || op == GGML_OP_TRANSPOSE;
}

/// The tensor that an operand is a view of, or itself.
const ggml_tensor* whole(const ggml_tensor* operand) {
  return operand->view_src != nullptr ? operand->view_src : operand;
}

/// Bytes of all elements, wherever they lie: a view may leave gaps.
std::uint64_t bytes_of(const ggml_tensor* operand) {
  return ggml_row_size(operand->type, operand->ne[0]) *
         static_cast<std::uint64_t>(ggml_nrows(operand));
}

/// Numbers of a tensor of such, in their order, wherever they lie.
std::vector<std::int32_t> numbers(const ggml_tensor* tensor) {
  std::vector<char> raw(ggml_nbytes(tensor));
  ggml_backend_tensor_get(tensor, raw.data(), 0, raw.size());
  std::vector<std::int32_t> found;
  for (std::int64_t row = 0; row < tensor->ne[1]; ++row)
    for (std::int64_t column = 0; column < tensor->ne[0]; ++column) {
      std::int32_t number = 0;
      const std::size_t at = static_cast<std::size_t>(row) * tensor->nb[1] +
                             static_cast<std::size_t>(column) * tensor->nb[0];
      std::memcpy(&number, raw.data() + at, sizeof number);
      found.push_back(number);
    }
  return found;
}

bool is_table(std::string_view name) {
  return name == embedding || name == "per_layer_token_embd.weight";
}

}  // namespace

std::optional<double> GraphReads::experts_per_layer() const {
  if (experts.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [layer, found] : experts) sum += static_cast<double>(found.size());
  return sum / static_cast<double>(experts.size());
}

void GraphWatch::attach(llama_context_params& parameters) {
  parameters.cb_eval = call;
  parameters.cb_eval_user_data = this;
}

bool GraphWatch::call(ggml_tensor* node, bool ask, void* self) {
  return static_cast<GraphWatch*>(self)->see(node, ask);
}

/// Called before a node is computed, and once more after it where that was answered with yes: row
/// numbers and experts are there only then. To go on is answered with yes too.
bool GraphWatch::see(ggml_tensor* node, bool ask) {
  if (only_looks(node->op) || ggml_is_empty(node)) return !ask;
  const bool chooses = node->op == GGML_OP_MUL_MAT_ID || node->op == GGML_OP_GET_ROWS;
  if (ask && chooses) return true;
  for (int place = 0; place < GGML_MAX_SRC; ++place)
    if (node->src[place] != nullptr) count(node, place);
  return !ask;
}

void GraphWatch::count(const ggml_tensor* node, int place) {
  const std::string name = whole(node->src[place])->name;
  if (const auto found = classes_.find(name); found != classes_.end())
    count_weight(node, place, name, found->second);
  else if (name.starts_with("cache_"))
    count_memory(node, place, name);
}

void GraphWatch::count_weight(const ggml_tensor* node, int place, const std::string& name,
                              const std::string& class_name) {
  const ggml_tensor* operand = node->src[place];
  if (place == 0 && node->op == GGML_OP_GET_ROWS) {
    if (name == embedding) {
      graphs_.emplace_back();
      now().tokens = static_cast<int>(ggml_nelements(node->src[1]));
    }
    if (is_table(name)) note_rows(node, name);
    now().bytes[name == embedding ? "embedding" : class_name] +=
        ggml_row_size(operand->type, operand->ne[0]) *
        static_cast<std::uint64_t>(ggml_nelements(node->src[1]));
  } else if (place == 0 && node->op == GGML_OP_MUL_MAT_ID) {
    note_experts(node, name);
    const std::vector<std::int32_t> ids = numbers(node->src[2]);
    now().bytes[class_name] +=
        std::set<std::int32_t>(ids.begin(), ids.end()).size() * operand->nb[2];
  } else {
    now().bytes[class_name] += bytes_of(operand);
  }
  const bool takes_in = name == "fc.weight" || (name == embedding && node->op == GGML_OP_GET_ROWS);
  if (takes_in) ++now().forwards;
}

/// What is stored is not read; nor is a state that is set to zero.
void GraphWatch::count_memory(const ggml_tensor* node, int place, const std::string& name) {
  const bool stores = node->op == GGML_OP_SET_ROWS || node->op == GGML_OP_SCALE ||
                      (node->op == GGML_OP_CPY && place == 1);
  if (stores) return;
  const ggml_tensor* operand = node->src[place];
  const bool is_state =
      name.starts_with("cache_r") || name.starts_with("cache_s") || name.starts_with("cache_ple");
  now().bytes[is_state ? "recurrent state" : "KV"] +=
      node->op == GGML_OP_GET_ROWS ? ggml_row_size(operand->type, operand->ne[0]) *
                                         static_cast<std::uint64_t>(ggml_nelements(node->src[1]))
                                   : bytes_of(operand);
}

void GraphWatch::note_rows(const ggml_tensor* node, const std::string& name) {
  const ggml_tensor* operand = node->src[0];
  const std::vector<std::int32_t> rows = numbers(node->src[1]);
  const auto tokens = static_cast<std::size_t>(std::max(now().tokens, 1));
  const std::uint64_t row_bytes = ggml_row_size(operand->type, operand->ne[0]);
  Table& table = tables_[name];
  table.sums.name = name == embedding ? "embedding" : classes_[name];
  table.sums.row_bytes = row_bytes;
  table.sums.table_bytes = ggml_nbytes(operand);
  table.sums.tokens += tokens;
  const std::size_t each = std::max<std::size_t>(rows.size() / tokens, 1);
  std::set<std::uint64_t> pages;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % each == 0) pages.clear();
    const auto begin = reinterpret_cast<std::uintptr_t>(operand->data) +
                       static_cast<std::uint64_t>(rows[i]) * row_bytes;
    const std::uint64_t first = begin / page;
    const std::size_t before = pages.size();
    for (std::uint64_t at = first; at <= (begin + row_bytes - 1) / page; ++at) pages.insert(at);
    table.pages += static_cast<double>(pages.size() - before);
    if (table.sums.gathers > 0 && first == table.last_page) ++table.sums.on_the_same_page;
    ++table.sums.gathers;
    table.last_page = first;
    table.rows.insert(rows[i]);
  }
}

void GraphWatch::note_experts(const ggml_tensor* node, const std::string& name) {
  const int layer = model::place_of(name).block;
  const std::vector<std::int32_t> ids = numbers(node->src[2]);
  now().experts[layer].insert(ids.begin(), ids.end());
  if (name.find("ffn_down_exps") == std::string::npos) return;
  expert_count_ = static_cast<int>(node->src[0]->ne[2]);
  for (const std::int32_t id : ids) ++picks_[layer][id];
}

GraphReads& GraphWatch::now() {
  if (graphs_.empty()) graphs_.emplace_back();
  return graphs_.back();
}

std::vector<GraphReads> GraphWatch::take() { return std::exchange(graphs_, {}); }

void GraphWatch::clear() {
  graphs_.clear();
  tables_.clear();
  picks_.clear();
}

std::vector<trace::ObservedTable> GraphWatch::tables() const {
  std::vector<trace::ObservedTable> found;
  for (const auto& [name, table] : tables_) {
    found.push_back(table.sums);
    found.back().different_rows = table.rows.size();
    found.back().pages_per_token = table.pages / static_cast<double>(table.sums.tokens);
  }
  return found;
}

std::optional<trace::ObservedExperts> GraphWatch::experts() const {
  if (picks_.empty() || expert_count_ == 0) return std::nullopt;
  trace::ObservedExperts experts;
  experts.layers = static_cast<int>(picks_.size());
  experts.count = expert_count_;
  experts.shares.resize(static_cast<std::size_t>(expert_count_));
  for (const auto& [layer, counts] : picks_) {
    std::vector<double> picked(experts.shares.size());
    double sum = 0;
    std::size_t next = 0;
    for (const auto& [expert, count] : counts) {
      picked[next++] = static_cast<double>(count);
      sum += static_cast<double>(count);
    }
    std::sort(picked.begin(), picked.end(), std::greater<>());
    for (std::size_t i = 0; i < picked.size(); ++i)
      experts.shares[i] += picked[i] / sum / experts.layers;
    experts.picks += static_cast<std::uint64_t>(sum);
  }
  return experts;
}

}  // namespace paceline::worker
