#include "model/laboratory.hpp"

#include <gtest/gtest.h>

#include "model/sha256.hpp"
#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::model {
namespace {

// Of "abc": FIPS 180-4's first example.
const std::string abc_hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class Laboratory : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(util::write_file(folder.path() / name, text));
  }

  std::string refusal_of(const std::string& name) {
    const auto checked = check_laboratory_file(folder.path() / name);
    return checked ? "" : checked.error().message;
  }

  support::TemporaryFolder folder;
};

TEST_F(Laboratory, HashesAsTheStandardSays) {
  write("abc", "abc");
  EXPECT_EQ(sha256_of(folder.path() / "abc").value(), abc_hash);
  EXPECT_FALSE(sha256_of(folder.path() / "missing"));
}

TEST_F(Laboratory, TakesAModelThatIsWhatTheListSays) {
  write("model.gguf", "abc");
  write(laboratory_list, abc_hash + "  model.gguf\n");
  EXPECT_EQ(refusal_of("model.gguf"), "");
}

TEST_F(Laboratory, RefusesAnotherFileAndSaysBothHashesAndWhatToDo) {
  write("model.gguf", "abd");
  write(laboratory_list, abc_hash + "  model.gguf\n");
  const std::string refusal = refusal_of("model.gguf");
  for (const std::string& part :
       {abc_hash, sha256_of(folder.path() / "model.gguf").value(),
        (folder.path() / "model.gguf").string(), std::string("Fetch the file again")})
    EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
}

TEST_F(Laboratory, LeavesModelsOfAnybodyElseAlone) {
  write("model.gguf", "abd");
  EXPECT_EQ(refusal_of("model.gguf"), "") << "there is no list";
  write(laboratory_list, abc_hash + "  another.gguf\n");
  EXPECT_EQ(refusal_of("model.gguf"), "") << "the list does not name it";
  EXPECT_EQ(refusal_of("another.gguf"), "") << "whoever reads it says that it is missing";
}

TEST_F(Laboratory, RefusesEverythingBesideADamagedList) {
  write("model.gguf", "abc");
  for (const std::string& line : {abc_hash, abc_hash + " model.gguf",
                                  abc_hash.substr(1) + "  model.gguf", std::string("x")}) {
    write(laboratory_list, abc_hash + "  another.gguf\n" + line + "\n");
    EXPECT_NE(refusal_of("model.gguf").find("line 2 of laboratory.sha256"), std::string::npos)
        << line;
  }
}

/// What ships: every model is in the list, is what the list says, and stands so in the model card.
TEST(LaboratoryModels, AreThoseOfTheListAndOfTheModelCard) {
  const std::filesystem::path models = PACELINE_SOURCE_DIR "/models";
  const auto hashes =
      parse_laboratory_list(util::read_file(models / laboratory_list).value()).value();
  const std::string card = util::read_file(models / "README.md").value();
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models)) {
    if (entry.path().extension() != ".gguf") continue;
    const std::string name = entry.path().filename().string();
    ASSERT_TRUE(hashes.contains(name)) << name;
    EXPECT_EQ(sha256_of(entry.path()).value(), hashes.at(name)) << name;
    const auto row = card.find("`" + name + "`");
    ASSERT_NE(row, std::string::npos) << name << " is not in the model card";
    const std::string line = card.substr(row, card.find('\n', row) - row);
    EXPECT_NE(line.find(hashes.at(name)), std::string::npos) << line;
    ++found;
  }
  EXPECT_EQ(found, hashes.size()) << "the list names a model that is not there";
}

}  // namespace
}  // namespace paceline::model
