#include "claim/readers/reader.hpp"

#include <algorithm>

#include "claim/number.hpp"
#include "claim/text.hpp"

namespace paceline::claim {

Row& Collector::add_row(const char* format, std::string label) {
  if (rows_.size() >= most_rows) {
    any_dropped_ = true;
    dropped_ = Row();
    return dropped_;
  }
  Row& row = rows_.emplace_back();
  row.format = format;
  row.label = std::move(label);
  row.group = group_;
  return row;
}

Row& Collector::stream_row(const char* format, const std::string& name) {
  Row*& row = streams_[name];
  if (row == nullptr) {
    new_group();
    row = &add_row(format, name);
    if (row == &dropped_) {
      streams_.erase(name);
      return dropped_;
    }
  }
  row->stated.clear();
  return *row;
}

void Collector::add_context(const char* name, const std::string& value) {
  for (Row& row : rows_)
    if (row.group == group_) row.context.emplace(name, value);
}

void Collector::remark(const char* kind, const std::string& row, std::string says) {
  if (sheet_.remarks.size() < most_rows) sheet_.remarks.push_back({kind, row, std::move(says)});
}

Sheet Collector::take() {
  if (any_dropped_)
    remark("too_many_rows", "",
           "only the first " + std::to_string(most_rows) + " rows of the text were kept");
  for (Row& row : rows_)
    if (!row.stated.empty() || !row.own_facts.empty()) sheet_.rows.push_back(std::move(row));
  return std::move(sheet_);
}

std::vector<std::unique_ptr<LineReader>> line_readers() {
  std::vector<std::unique_ptr<LineReader>> readers;
  readers.push_back(make_metrics_reader());
  readers.push_back(make_llama_log_reader());
  readers.push_back(make_engine_log_reader());
  readers.push_back(make_perplexity_reader());
  readers.push_back(make_label_reader());
  readers.push_back(make_table_reader());
  return readers;
}

bool read_object(const util::Json& json, const Line& line, Collector& out) {
  return read_own_document(json, line, out) || read_bench_object(json, line, out) ||
         read_peer_results(json, line, out) || read_server_object(json, line, out);
}

bool add_figure(Row& row, Figure figure, std::string_view text, const Line& line,
                std::string_view unit, const char* definition) {
  const std::string_view word = first_word(text);
  auto range = parse_figure(word, figure, unit);
  if (!range) return false;
  row.add({figure, *range, {}, std::string(word), line.source(), definition});
  return true;
}

std::optional<std::string_view> behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  while (!text.empty() && (text.front() == ' ' || text.front() == ':' || text.front() == '=' ||
                           text.front() == '\t'))
    text.remove_prefix(1);
  return text;
}

std::string_view first_word(std::string_view text) {
  text = trimmed(text);
  std::size_t end = std::min(text.find_first_of(" \t\r|;()[]"), text.size());
  while (end > 0 && (text[end - 1] == ',' || text[end - 1] == '.')) --end;
  return text.substr(0, end);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void mark_plain(Row& row, std::string_view words) {
  const std::string plain = " " + plain_head(words) + " ";
  for (const char* const one : {" regular ", " none ", " plain ", " baseline ", " base ", " bare ",
                                " vanilla ", " no spec ", " no drafter ", " without drafter "})
    if (plain.find(one) != std::string::npos) row.context["arm"] = "plain";
}

}  // namespace paceline::claim
