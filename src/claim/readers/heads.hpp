#pragma once

#include <string>
#include <string_view>

#include "claim/readers/reader.hpp"

namespace paceline::claim {

/// What a column, a label or a key of a tool is.
struct Head {
  enum class Kind {
    figure,   ///< a number
    word,     ///< a fact in words
    test,     ///< llama-bench's: which of prompt and output the row's speed is of
    spread,   ///< beside a figure, of no use alone
    ignored,  ///< known, and nothing that a claim is about
  };
  const char* head;  ///< by plain_head
  Kind kind = Kind::ignored;
  Figure figure = Figure::tokens_per_s;
  const char* word = "";
  const char* unit = "";
};

/// A head by what stands in a table, a log or a key; null when it is not known.
const Head* head_of(std::string_view text);

/// Reads one cell below a head into the row; false when it is no such figure.
bool add_cell(const Head& head, std::string_view cell, const Line& line, Row& row);

/// A cell without marks of emphasis and footnotes.
std::string_view bare(std::string_view cell);

/// What is left to do when all cells of a row were read: the label, whether the row is of plain
/// decoding, of a prompt or of both.
void finish_row(Row& row);

}  // namespace paceline::claim
