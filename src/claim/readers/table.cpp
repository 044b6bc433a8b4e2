#include <fmt/format.h>

#include <algorithm>

#include "claim/readers/heads.hpp"
#include "util/printable.hpp"

// Tables with known heads: Markdown, tabs, commas, blanks, and llama-bench's SQL.

namespace paceline::claim {

namespace {

using Cells = std::vector<std::string>;
using Kind = Head::Kind;

constexpr std::size_t most_cells = 200;

Cells split(std::string_view text, char at) {
  Cells cells;
  for (std::size_t from = 0; from <= text.size() && cells.size() < most_cells;) {
    const std::size_t end = std::min(text.find(at, from), text.size());
    cells.emplace_back(trimmed(text.substr(from, end - from)));
    from = end + 1;
  }
  return cells;
}

Cells piped(std::string_view text) {
  text = trimmed(text);
  if (std::count(text.begin(), text.end(), '|') < 2) return {};
  if (text.starts_with('|')) text.remove_prefix(1);
  if (text.ends_with('|')) text.remove_suffix(1);
  return split(text, '|');
}

Cells tabbed(std::string_view text) {
  return text.find('\t') == std::string_view::npos ? Cells() : split(text, '\t');
}

Cells blanks(std::string_view text) {
  Cells cells;
  while (cells.size() < most_cells) {
    text = trimmed(text);
    if (text.empty()) break;
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    cells.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return cells;
}

/// Values parted by commas, with quotes of either kind around those that hold commas.
Cells commas(std::string_view text) {
  Cells cells;
  if (text.find(',') == std::string_view::npos) return {};
  std::string cell;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote == 0 && c == ',') {
      cells.emplace_back(trimmed(cell));
      cell.clear();
      if (cells.size() >= most_cells) return {};
    } else {
      cell += c;
    }
  }
  cells.emplace_back(trimmed(cell));
  return cells.size() > 1 ? cells : Cells();
}

bool is_rule(const Cells& cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("-: ") == std::string::npos;
  });
}

struct Form {
  const char* name;
  Cells (*split)(std::string_view);
  std::size_t heads_needed;  ///< known ones that make a head of a line
};

/// Tools by a head that only their tables have.
constexpr std::array tools = {std::pair{"test", "llama-bench"}, std::pair{"n gen", "llama-bench"},
                              std::pair{"n kv", "batched-bench"}, std::pair{"a len", "spec-bench"},
                              std::pair{"avg pred t/s", "speed-bench"}};

constexpr std::array forms = {Form{"table", piped, 2}, Form{"table of tabs", tabbed, 2},
                              Form{"CSV", commas, 3}, Form{"table of blanks", blanks, 4}};

class Tables : public LineReader {
 public:
  bool take(const Line& line, Collector& out) override {
    if (const auto values = behind(line.text, "INSERT INTO")) return insert(line, *values, out);
    if (line.text.find("| |-") != std::string_view::npos) return run_together(line, out);
    if (form_ != nullptr && row(line, out)) return true;
    close(out);
    return std::any_of(forms.begin(), forms.end(),
                       [&](const Form& form) { return head(form, line, out); });
  }
  void end(Collector& out) override { close(out); }

 private:
  /// Markdown that lost its line breaks: "words | head | head | |---|---| | cell | cell | words".
  bool run_together(const Line& line, Collector& out) {
    std::vector<Cells> pieces;
    for (std::size_t from = 0; from <= line.text.size();) {
      const std::size_t end = std::min(line.text.find("| |", from), line.text.size());
      pieces.push_back(split(line.text.substr(from, end - from), '|'));
      from = end + 3;
    }
    bool any = false;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const std::size_t columns = pieces[i].size();
      const Cells& before = pieces[i - 1];
      if (!is_rule(pieces[i]) || before.size() < columns) continue;
      const auto first = before.end() - static_cast<std::ptrdiff_t>(columns);
      if (!set_heads(forms[0], Cells(first, before.end()), line, out)) continue;
      for (std::size_t j = i + 1; j < pieces.size() && pieces[j].size() >= columns; ++j) {
        const bool last = pieces[j].size() > columns;
        Cells cells = pieces[j];
        cells.resize(columns);
        any = add(cells, line, out) || any;
        if (last) break;
      }
    }
    close(out);
    return any;
  }

  bool head(const Form& form, const Line& line, Collector& out) {
    // Most text is words and blanks: a head begins with one.
    if (form.split == blanks && head_of(first_word(line.text)) == nullptr) return false;
    return set_heads(form, form.split(line.text), line, out);
  }

  bool set_heads(const Form& form, const Cells& cells, const Line& line, Collector& out) {
    if (cells.size() < form.heads_needed) return false;
    std::vector<const Head*> found;
    for (const std::string& cell : cells) found.push_back(head_of(cell));
    const auto is_known = [](const Head* head) { return head != nullptr; };
    const auto is_number = [](const Head* head) {
      return head != nullptr && head->kind == Kind::figure;
    };
    if (std::cmp_less(std::count_if(found.begin(), found.end(), is_known), form.heads_needed) ||
        std::none_of(found.begin(), found.end(), is_number))
      return false;
    form_ = &form;
    heads_ = std::move(found);
    rows_ = 0;
    ruled_ = false;
    began_ = line.number;
    out.new_group();
    return true;
  }

  const char* format() const {
    for (const auto& [sign, tool] : tools)
      for (const Head* head : heads_)
        if (head != nullptr && std::string_view(head->head) == sign) return tool;
    return form_->name;
  }

  bool row(const Line& line, Collector& out) {
    const Cells cells = form_->split(line.text);
    if (is_rule(cells)) return ruled_ = true;
    if (cells.size() != heads_.size()) return false;
    return add(cells, line, out);
  }

  bool add(const Cells& cells, const Line& line, Collector& out) {
    Row read;
    bool any = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (heads_[i] == nullptr) continue;
      const bool taken = add_cell(*heads_[i], cells[i], line, read);
      any = any || (taken && heads_[i]->kind == Kind::figure);
    }
    if (!any) return false;
    ++rows_;
    Row& kept = out.add_row(format(), std::string(bare(cells.front())));
    read.format = kept.format;
    read.group = kept.group;
    read.label = kept.label.empty() ? line.source() : kept.label;
    kept = std::move(read);
    if (kept.format == "llama-bench") {
      // It cannot speculate, and makes tokens one by one.
      kept.context["arm"] = "plain";
      kept.context["tool"] = kept.format;
    }
    finish_row(kept);
    remark_spread(kept, out);
    return true;
  }

  void remark_spread(const Row& row, Collector& out) {
    for (const Stated& one : row.stated) {
      if (one.text.find("\xC2\xB1") == std::string::npos || !one.range.value) continue;
      if (one.range.low < *one.range.value / 2)
        out.remark("wide_spread", row.label,
                   fmt::format("{} of {} spreads over half its mean: some run was no measurement",
                               name_of(one.figure), one.text));
      else if (one.range.low == one.range.high)
        out.remark("no_spread", row.label,
                   fmt::format("{} of {} has no spread: one run", name_of(one.figure), one.text));
    }
  }

  /// A head with no row below it: the run died.
  void close(Collector& out) {
    if (form_ != nullptr && ruled_ && rows_ == 0)
      out.remark("no_rows", "",
                 fmt::format("the table of line {} has a head and no rows: the run died", began_));
    form_ = nullptr;
  }

  /// "INSERT INTO llama_bench (a, b) VALUES ('1', '2');", both on one line or on two.
  bool insert(const Line& line, std::string_view rest, Collector& out) {
    const std::size_t open = rest.find('(');
    const std::size_t values = rest.find("VALUES");
    if (open == std::string_view::npos || values == std::string_view::npos || values < open)
      return false;
    const std::size_t close_names = rest.rfind(')', values);
    const std::size_t open_values = rest.find('(', values);
    const std::size_t close_values = rest.rfind(')');
    if (close_names == std::string_view::npos || close_names < open ||
        open_values == std::string_view::npos || close_values < open_values)
      return false;
    const Cells cells = commas(rest.substr(open_values + 1, close_values - open_values - 1));
    heads_.clear();
    for (const std::string& name : commas(rest.substr(open + 1, close_names - open - 1)))
      heads_.push_back(head_of(name));
    form_ = &forms[2];
    rows_ = 1;
    return cells.size() == heads_.size() && add(cells, line, out);
  }

  const Form* form_ = nullptr;  ///< of the table that is being read; null: none
  std::vector<const Head*> heads_;
  int rows_ = 0;
  bool ruled_ = false;  ///< a line of dashes stood below the head
  long began_ = 0;
};

}  // namespace

std::unique_ptr<LineReader> make_table_reader() { return std::make_unique<Tables>(); }

}  // namespace paceline::claim
