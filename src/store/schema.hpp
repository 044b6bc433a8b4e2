#pragma once

#include "store/database.hpp"

namespace paceline::store {

/// Opens the store in a file, with the tables of this version: a new file gets them, an older store
/// is brought up to them. A file that is no store, or one of a later version, or is damaged, is
/// refused in a sentence and left as it is.
util::Result<Database> open_database(const std::filesystem::path& file);

/// To look only: as open_database, but a store that cannot be written is read as it is.
util::Result<Database> open_to_read(const std::filesystem::path& file);

}  // namespace paceline::store
