#include "store/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "support/temporary_folder.hpp"
#include "unit/store/sample_study.hpp"
#include "util/files.hpp"

namespace paceline::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StoreFile : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  void write(const fs::path& file, std::string_view bytes) const {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  /// Why it is refused; it must then be as it was.
  std::string refusal(const fs::path& file) const {
    const auto before = *util::read_file(file);
    const auto store = Store::open(file);
    if (store) return "";
    EXPECT_TRUE(*util::read_file(file) == before) << store.error().message;
    EXPECT_THAT(store.error().message, HasSubstr(file.string()));
    return store.error().message;
  }

  /// Opens a store and looks into it; true when every study in it can be read to its end. A file
  /// that is refused, now or while it is read, is left as it is.
  bool reads(const fs::path& file) const {
    auto store = Store::open(file);
    if (!store) return false;
    const auto rows = store->list({});
    if (!rows) return false;
    for (const auto& row : *rows)
      if (!store->lines(row)) return false;
    return true;
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(StoreFile, is_made_with_its_folder) {
  ASSERT_TRUE(Store::open(path("new/folder/s.db")));
  ASSERT_TRUE(Store::open(path("new/folder/s.db"))) << "and opened again";
  EXPECT_FALSE(fs::exists(path("new/folder/s.db-wal"))) << "closing tidies up";
}

TEST_F(StoreFile, of_something_else_is_refused_and_left_alone) {
  write(path("text"), std::string(5000, 'x'));
  EXPECT_THAT(refusal(path("text")), HasSubstr("no store of Paceline's"));
  write(path("short"), "SQLite format 3");
  EXPECT_THAT(refusal(path("short")), HasSubstr("no store of Paceline's"));
  {
    auto other = Database::open(path("other.db"));
    ASSERT_TRUE(other->run("CREATE TABLE thing (name TEXT); PRAGMA application_id = 77"));
  }
  EXPECT_THAT(refusal(path("other.db")), HasSubstr("another program"));
  EXPECT_THAT(Store::open(path("")).error().message, HasSubstr("no file"));
  EXPECT_THAT(Store::open("/proc/no/such/s.db").error().message, HasSubstr("--db"));
}

/// The superuser may do everything, so it is somebody else meanwhile.
class Unprivileged {
 public:
  Unprivileged() : began_as_(::geteuid()) {
    constexpr uid_t nobody = 65534;
    if (began_as_ == 0) {
      EXPECT_EQ(::seteuid(nobody), 0);
    }
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() { EXPECT_EQ(::seteuid(began_as_), 0); }

 private:
  uid_t began_as_;
};

TEST_F(StoreFile, without_permissions_says_so_and_is_read_where_it_may_be) {
  const auto folder = path("a %41?#b");
  const auto file = folder / "s.db";
  const auto may = [](const fs::path& path, unsigned mode) {
    fs::permissions(path, static_cast<fs::perms>(mode));
  };
  may(path("").parent_path(), 0755);
  {
    auto store = Store::open(file);
    put_study(*store, sample_header("a"), 2);
  }
  may(file, 0444);
  may(folder, 0555);
  {
    const Unprivileged nobody;
    const auto written = Store::open(file);
    EXPECT_FALSE(written);
    auto store = Store::open_to_read(file);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ(store->list({})->size(), 1u);
    EXPECT_TRUE(store->lines(*store->find("a")));
    EXPECT_THAT(store->remove({*store->find("a")}).error().message, HasSubstr("cannot be written"));
  }
  may(file, 0);
  {
    const Unprivileged nobody;
    for (const auto open : {Store::open, Store::open_to_read}) {
      const auto store = open(file);
      ASSERT_FALSE(store);
      EXPECT_THAT(store.error().message, HasSubstr("no permission to read it"));
    }
  }
  may(folder, 0755);
}

TEST_F(StoreFile, without_a_name_is_refused) {
  const auto store = Store::open("");
  ASSERT_FALSE(store) << "SQLite would forget the study as soon as it is closed";
  EXPECT_EQ(store.error().kind, util::ErrorKind::usage);
  EXPECT_THAT(store.error().message, HasSubstr("--db has an empty name"));
}

TEST_F(StoreFile, of_a_later_version_is_refused_and_left_alone) {
  { ASSERT_TRUE(Store::open(path("s.db"))->database().run("PRAGMA user_version = 99")); }
  EXPECT_THAT(refusal(path("s.db")), HasSubstr("later version"));
  EXPECT_FALSE(fs::exists(path("s.db-wal"))) << "it was not even opened";
  // The version stands in the -wal file alone: its program was killed.
  { ASSERT_TRUE(Store::open(path("t.db"))); }
  {
    auto store = Store::open(path("t.db"));
    ASSERT_TRUE(store->database().run("PRAGMA user_version = 99"));
    fs::copy_file(path("t.db"), path("u.db"));
    fs::copy_file(path("t.db-wal"), path("u.db-wal"));
  }
  EXPECT_THAT(refusal(path("u.db")), HasSubstr("later version"));
  EXPECT_GT(fs::file_size(path("u.db-wal")), 0u) << "what waits there is left, too";
}

TEST_F(StoreFile, cut_at_any_byte_of_its_last_two_pages_is_refused_and_left_alone) {
  {
    auto store = Store::open(path("s.db"));
    put_study(*store, sample_header("a"), 20);
  }
  const auto bytes = *util::read_file(path("s.db"));
  ASSERT_TRUE(reads(path("s.db")));
  for (std::size_t cut = bytes.size() - 1; cut >= bytes.size() - 2 * 4096; --cut) {
    fs::resize_file(path("s.db"), cut);
    const auto store = Store::open(path("s.db"));
    ASSERT_FALSE(store) << cut;
    ASSERT_THAT(store.error().message, HasSubstr("damaged")) << cut;
    ASSERT_TRUE(*util::read_file(path("s.db")) == bytes.substr(0, cut)) << cut;
  }
}

TEST_F(StoreFile, with_a_cut_wal_file_has_every_record_that_is_whole_in_it) {
  {
    auto store = Store::open(path("s.db"));
    put_study(*store, sample_header("a"), 5);
    ASSERT_TRUE(store->database().run("PRAGMA wal_checkpoint(TRUNCATE)"));
    StudyJournal journal(store->database(), store->find("a")->key);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(journal.request(0, sample_request("late")));
    fs::copy_file(path("s.db"), path("killed.db"));
    fs::copy_file(path("s.db-wal"), path("killed.db-wal"));
  }
  const auto base = *util::read_file(path("killed.db"));
  const auto wal = *util::read_file(path("killed.db-wal"));
  constexpr std::size_t stride = 211;  // no divisor of a frame's 4120 bytes
  int most = 0;
  for (std::size_t cut = 0; cut <= wal.size(); cut += stride) {
    write(path("c.db"), base);
    write(path("c.db-wal"), std::string_view(wal).substr(0, cut));
    fs::remove(path("c.db-shm"));
    auto store = Store::open(path("c.db"));
    ASSERT_TRUE(store) << cut << ": " << store.error().message;
    const auto row = store->find("a");
    ASSERT_TRUE(row && store->lines(*row)) << cut;
    ASSERT_GE(row->requests, most) << "a longer piece has no fewer records";
    most = row->requests;
  }
  EXPECT_GE(most, 5 + 3);
}

/// As a program leaves it that is killed while it moves pages from the -wal file into the store.
TEST_F(StoreFile, that_is_short_opens_when_the_wal_file_has_the_rest_and_else_is_refused) {
  std::string wal;
  { ASSERT_TRUE(Store::open(path("s.db"))); }
  {
    auto store = Store::open(path("s.db"));
    put_study(*store, sample_header("a"), 5);
    wal = *util::read_file(path("s.db-wal"));
  }
  const auto moved = *util::read_file(path("s.db"));
  const auto read_with = [&](std::size_t cut, std::string_view waiting) {
    const auto part = std::string_view(moved).substr(0, cut);
    write(path("c.db"), part);
    write(path("c.db-wal"), waiting);
    fs::remove(path("c.db-shm"));
    if (reads(path("c.db"))) return true;
    EXPECT_TRUE(*util::read_file(path("c.db")) == part) << cut;
    EXPECT_TRUE(*util::read_file(path("c.db-wal")) == waiting) << cut;
    return false;
  };
  for (std::size_t cut = moved.size() - 2 * 4096; cut < moved.size(); cut += 509) {
    EXPECT_TRUE(read_with(cut, wal)) << cut;
    EXPECT_FALSE(read_with(cut, std::string_view(wal).substr(0, 32 + 2 * 4120))) << cut;
    std::string of_another = wal;
    of_another[16] = static_cast<char>(of_another[16] ^ 1);
    EXPECT_FALSE(read_with(cut, of_another)) << cut;
  }
}

TEST_F(StoreFile, with_a_damaged_record_says_so_and_gives_the_other_studies) {
  auto store = Store::open(path("s.db"));
  put_study(*store, sample_header("a"), 2);
  put_study(*store, sample_header("b"), 2);
  ASSERT_TRUE(store->database().run(
      "UPDATE record SET line = substr(line, 1, 20) WHERE key = (SELECT max(key) FROM record)"));
  EXPECT_THAT(store->lines(*store->find("b")).error().message, HasSubstr("damaged"));
  EXPECT_TRUE(store->lines(*store->find("a")));
}

}  // namespace
}  // namespace paceline::store
