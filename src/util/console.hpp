#pragma once

#include <cstdio>
#include <string_view>

namespace paceline::util {

/// A line on standard error for the person who watches: made printable, cut at 500 bytes, and
/// given up silently when nobody can read it; talk must never cost a measurement.
void say(std::string_view line);

/// Writes all of `text` and flushes; false when it could not be written.
bool write_all(FILE* stream, std::string_view text);

/// Columns of the terminal behind `stream`; `otherwise` when there is none or it does not say.
int terminal_columns(FILE* stream, int otherwise);

/// Gives descriptors 0 to 2 something to stand on, so that no file opened later becomes one of
/// them and gets what was meant for a person.
void fill_standard_descriptors();

}  // namespace paceline::util
