#include "study/derived.hpp"

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::study {
namespace {

/// Writes "heavy" where it is told to, and counts how often.
class Writer final : public engine::Engine {
 public:
  engine::Capabilities capabilities() const override { return {}; }
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup&,
                                                        const trace::Sampling&) override {
    return trace::EngineFacts{};
  }
  util::Result<engine::JobId> submit(const protocol::Job& job, std::chrono::seconds) override {
    EXPECT_TRUE(util::write_file(std::get<protocol::Synth>(job).destination_path, "heavy"));
    return ++written;
  }
  std::optional<engine::TaggedEvent> next(engine::TimePoint) override {
    return engine::TaggedEvent{written, trace::Finished{}};
  }
  void cancel(engine::JobId) override {}
  void close() override {}

  engine::JobId written = 0;
};

class Derived : public ::testing::Test {
 protected:
  std::filesystem::path copy() {
    const auto path =
        derived(target, derivation, folder.path() / "cache", writer, [] { return false; });
    EXPECT_TRUE(path) << path.error().message;
    return path.value_or("");
  }

  support::TemporaryFolder folder;
  std::filesystem::path target = folder.path() / "target.gguf";
  Derivation derivation{.extra_layers = 2, .feed_forward = 1024};
  Writer writer;
};

TEST_F(Derived, is_written_once_for_a_target) {
  ASSERT_TRUE(util::write_file(target, "light"));
  const auto first = copy();
  EXPECT_EQ(copy(), first);
  EXPECT_EQ(writer.written, 1u);
  ASSERT_TRUE(util::write_file(target, "another"));
  EXPECT_NE(copy(), first);
  EXPECT_EQ(writer.written, 2u);
}

TEST_F(Derived, is_another_file_for_another_type_or_ballast) {
  ASSERT_TRUE(util::write_file(target, "light"));
  const auto heavy = copy();
  derivation.quant = protocol::Quant::q8_0;
  const auto both = copy();
  derivation = {.quant = protocol::Quant::q8_0};
  const auto quantised = copy();
  derivation.quant = protocol::Quant::q4_0;
  EXPECT_NE(copy(), quantised);
  EXPECT_NE(both, heavy);
  EXPECT_NE(quantised, both);
  EXPECT_EQ(writer.written, 4u);
  EXPECT_EQ(quantised.filename().string().rfind("target-q8_0-", 0), 0u) << quantised;
}

TEST_F(Derived, is_the_model_itself_where_nothing_differs) {
  derivation = {};
  EXPECT_EQ(copy(), target);
  EXPECT_EQ(writer.written, 0u);
}

TEST_F(Derived, names_a_model_that_is_not_there) {
  const auto path = derived(folder.path() / "missing.gguf", derivation, folder.path() / "cache",
                            writer, [] { return false; });
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().message.find("missing.gguf: No such file"), std::string::npos)
      << path.error().message;
}

TEST_F(Derived, is_written_again_when_the_copy_was_damaged_or_not_finished) {
  ASSERT_TRUE(util::write_file(target, "light"));
  const auto path = copy();
  ASSERT_TRUE(util::write_file(path, "heavx"));
  EXPECT_EQ(copy(), path);
  EXPECT_EQ(writer.written, 2u);
  EXPECT_EQ(*util::read_file(path), "heavy");
  std::filesystem::remove(path.string() + ".sum");
  copy();
  EXPECT_EQ(writer.written, 3u);
}

}  // namespace
}  // namespace paceline::study
