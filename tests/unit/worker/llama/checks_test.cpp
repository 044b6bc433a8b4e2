#include "worker/llama/checks.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ggml.h"
#include "gguf.h"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"

namespace paceline::worker {
namespace {

using trace::SpecType;

void set_vocabulary(gguf_context* gguf, std::size_t size) {
  std::vector<std::string> words;
  std::vector<const char*> pointers;
  for (std::size_t i = 0; i < size; ++i) words.push_back("t" + std::to_string(i));
  for (const std::string& word : words) pointers.push_back(word.c_str());
  gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
}

class Checks : public testing::Test {
 protected:
  using Edit = std::function<void(gguf_context*)>;

  std::string write(const std::string& name, const std::function<void(gguf_context*)>& fill,
                    const char* tensor = nullptr) {
    const std::string path = folder_.path() / name;
    gguf_context* gguf = gguf_init_empty();
    fill(gguf);
    ggml_context* tensors =
        ggml_init({.mem_size = 1 << 16, .mem_buffer = nullptr, .no_alloc = false});
    if (tensor != nullptr) {
      ggml_tensor* one = ggml_new_tensor_1d(tensors, GGML_TYPE_F32, 1);
      ggml_set_name(one, tensor);
      gguf_add_tensor(gguf, one);
    }
    gguf_write_to_file(gguf, path.c_str(), false);
    ggml_free(tensors);
    gguf_free(gguf);
    return path;
  }

  /// A target of 6 layers and a prediction block, rows of 256 and 10 tokens.
  model::Gguf target(
      const Edit& edit = [](gguf_context*) {}, const char* tensor = "blk.6.nextn.eh_proj.weight") {
    return model::Gguf::open(write(
                                 "target.gguf",
                                 [&](gguf_context* gguf) {
                                   gguf_set_val_str(gguf, "general.architecture", "qwen35");
                                   gguf_set_val_u32(gguf, "qwen35.embedding_length", 256);
                                   gguf_set_val_u32(gguf, "qwen35.block_count", 7);
                                   gguf_set_val_u32(gguf, "qwen35.nextn_predict_layers", 1);
                                   set_vocabulary(gguf, 10);
                                   edit(gguf);
                                 },
                                 tensor))
        .value();
  }

  /// A DFlash drafter that fits it, with blocks of 8.
  model::Gguf dflash(const Edit& edit = [](gguf_context*) {}) {
    const std::vector<std::uint32_t> taps{1, 3, 5};
    return model::Gguf::open(write("dflash.gguf",
                                   [&](gguf_context* gguf) {
                                     gguf_set_val_str(gguf, "general.architecture", "dflash");
                                     gguf_set_val_u32(gguf, "dflash.embedding_length", 256);
                                     gguf_set_val_u32(gguf, "dflash.block_size", 8);
                                     gguf_set_val_u32(gguf, "tokenizer.ggml.mask_token_id", 9);
                                     gguf_set_arr_data(gguf, "dflash.target_layers",
                                                       GGUF_TYPE_UINT32, taps.data(), taps.size());
                                     set_vocabulary(gguf, 10);
                                     edit(gguf);
                                   }))
        .value();
  }

  /// An EAGLE3 drafter that fits it and takes the target's embeddings and output.
  model::Gguf eagle3(const Edit& edit = [](gguf_context*) {}) {
    const std::vector<std::uint32_t> taps{1, 3, 6};
    return model::Gguf::open(write("eagle3.gguf",
                                   [&](gguf_context* gguf) {
                                     gguf_set_val_str(gguf, "general.architecture", "eagle3");
                                     gguf_set_val_u32(gguf, "eagle3.embedding_length", 256);
                                     gguf_set_val_u32(gguf, "eagle3.block_count", 1);
                                     gguf_set_val_u32(gguf, "eagle3.target_hidden_size", 256);
                                     gguf_set_arr_data(gguf, "eagle3.target_layers",
                                                       GGUF_TYPE_UINT32, taps.data(), taps.size());
                                     set_vocabulary(gguf, 10);
                                     edit(gguf);
                                   }))
        .value();
  }

  /// A DSpark drafter that fits it, with blocks of 8; its keys beside the common ones from `more`.
  model::Gguf dspark(const std::function<void(support::GgufBuilder&)>& more =
                         [](support::GgufBuilder&) {}) {
    support::GgufBuilder file("dflash");
    file.u32("dflash.embedding_length", 256)
        .u32("tokenizer.ggml.mask_token_id", 9)
        .u32s("dflash.target_layers", {1, 3, 5})
        .texts("tokenizer.ggml.tokens", 10)
        .tensor("markov_w1.weight", {4, 10}, 0, 160);
    more(file);
    const std::string path = folder_.path() / "dspark.gguf";
    EXPECT_TRUE(util::write_file(path, file.bytes()));
    return model::Gguf::open(path).value();
  }

  static trace::Setup setup(SpecType type, int n_max = 0) {
    trace::Setup setup;
    setup.model_path = "target.gguf";
    setup.spec_type = type;
    setup.draft_n_max = n_max;
    return setup;
  }

  static std::string refusal(const util::Result<DraftPlan>& plan) {
    return plan ? std::string("was not refused") : plan.error().message;
  }

  support::TemporaryFolder folder_;
};

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(Checks, ADraftOfZeroIsTheBlockWithoutItsAnchorOrThreeForMtp) {
  const model::Gguf drafter = dflash();
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_dflash), target(), &drafter)->n_max, 7);
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_dflash), target(), &drafter)->block, 8);
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_dflash, 4), target(), &drafter)->n_max, 4);
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_mtp), target(), nullptr)->n_max, 3);
  EXPECT_FALSE(plan_drafts(setup(SpecType::draft_mtp), target(), nullptr)->block.has_value());
  EXPECT_EQ(plan_drafts(setup(SpecType::none), target(), nullptr)->n_max, 0);
}

TEST_F(Checks, ADFlashDrafterHasToFitItsTarget) {
  const auto message = [&](const Edit& edit) {
    const model::Gguf drafter = dflash(edit);
    return refusal(plan_drafts(setup(SpecType::draft_dflash), target(), &drafter));
  };
  expect_says(message([](gguf_context* g) { gguf_set_val_u32(g, "dflash.embedding_length", 128); }),
              "its embedding length is 128, the target's is 256");
  expect_says(message([](gguf_context* g) { set_vocabulary(g, 11); }),
              "its vocabulary is 11, the target's is 10");
  expect_says(message([](gguf_context* g) {
                const std::uint32_t tap = 6;
                gguf_set_arr_data(g, "dflash.target_layers", GGUF_TYPE_UINT32, &tap, 1);
              }),
              "reads layer 6 of its target");
  expect_says(message([](gguf_context* g) { gguf_remove_key(g, "dflash.target_layers"); }),
              "dflash.target_layers");
  expect_says(message([](gguf_context* g) { gguf_remove_key(g, "tokenizer.ggml.mask_token_id"); }),
              "no mask token");
  expect_says(message([](gguf_context* g) { gguf_set_val_u32(g, "dflash.block_size", 1); }),
              "block size of 1");
  expect_says(message([](gguf_context* g) { gguf_set_val_u32(g, "dflash.block_size", 513); }),
              "block size of 513");
  expect_says(
      message([](gguf_context* g) { gguf_set_val_str(g, "general.architecture", "llama"); }),
      "is of architecture 'llama'");
}

TEST_F(Checks, AnEagle3DrafterMakesOneTokenAfterTheOther) {
  const model::Gguf drafter = eagle3();
  const auto plan = plan_drafts(setup(SpecType::draft_eagle3, 5), target(), &drafter);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->n_max, 5);
  EXPECT_FALSE(plan->block.has_value());
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_eagle3), target(), &drafter)->n_max, 3);
}

TEST_F(Checks, AnEagle3DrafterHasToFitItsTarget) {
  const auto message = [&](const Edit& edit) {
    const model::Gguf drafter = eagle3(edit);
    return refusal(plan_drafts(setup(SpecType::draft_eagle3), target(), &drafter));
  };
  const auto taps = [](std::vector<std::uint32_t> layers) {
    return [layers](gguf_context* g) {
      gguf_set_arr_data(g, "eagle3.target_layers", GGUF_TYPE_UINT32, layers.data(), layers.size());
    };
  };
  expect_says(
      message([](gguf_context* g) { gguf_set_val_u32(g, "eagle3.target_hidden_size", 128); }),
      "its target's hidden size is 128, the target's is 256");
  expect_says(message([](gguf_context* g) { gguf_set_val_u32(g, "eagle3.embedding_length", 128); }),
              "its embedding length is 128, the target's is 256");
  expect_says(message([](gguf_context* g) { set_vocabulary(g, 11); }),
              "its vocabulary is 11, the target's is 10");
  expect_says(message([](gguf_context* g) { gguf_set_val_u32(g, "eagle3.block_count", 2); }),
              "has 2 blocks");
  expect_says(message(taps({1, 3})), "reads 2 target layers; 3 can be run");
  expect_says(message(taps({1, 3, 7})), "reads layer 7 of its target");
  expect_says(message([](gguf_context* g) { gguf_remove_key(g, "eagle3.target_layers"); }),
              "eagle3.target_layers");
  expect_says(refusal(plan_drafts(setup(SpecType::draft_eagle3), target(), nullptr)),
              "name it with -md");
  const model::Gguf block = dflash();
  expect_says(
      refusal(plan_drafts(setup(SpecType::draft_eagle3), target(), &block)),
      "is of architecture 'dflash', and draft-eagle3 runs drafters of architecture 'eagle3'");
}

TEST_F(Checks, ADSparkBlockIsDraftedWholeUnlessItsFirstRowPredictsNothing) {
  const model::Gguf from_anchor =
      dspark([](support::GgufBuilder& file) { file.u32("dflash.block_size", 8); });
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_dspark), target(), &from_anchor)->n_max, 8);
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_dspark, 8), target(), &from_anchor)->block, 8);
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dspark, 9), target(), &from_anchor)),
              "at most 8");
  const model::Gguf from_mask = dspark([](support::GgufBuilder& file) {
    file.u32("dflash.block_size", 8).flag("dflash.sample_from_anchor", false);
  });
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_dspark), target(), &from_mask)->n_max, 7);
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dspark, 8), target(), &from_mask)),
              "at most 7");
}

TEST_F(Checks, DSparkAndDFlashFilesAreNotTakenForEachOther) {
  const model::Gguf markov =
      dspark([](support::GgufBuilder& file) { file.u32("dflash.block_size", 8); });
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dflash), target(), &markov)),
              "has a Markov head, so that it is a DSpark drafter: take --spec-type draft-dspark");
  const model::Gguf block = dflash();
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dspark), target(), &block)),
              "has no Markov head, so that it is not a DSpark drafter: take --spec-type "
              "draft-dflash");
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dspark), target(), nullptr)),
              "draft-dspark needs a drafter file");
}

/// llama.cpp's graph ends the process there.
TEST_F(Checks, ADSparkDrafterHasToSayItsBlockSize) {
  const model::Gguf drafter = dspark();
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dspark), target(), &drafter)),
              "does not say its block size");
}

TEST_F(Checks, DraftSimpleTakesAnOrdinaryModelWithTheSameTokens) {
  const model::Gguf small = target();
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_simple), target(), &small)->n_max, 3);
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_simple, 5), target(), &small)->n_max, 5);
  expect_says(refusal(plan_drafts(setup(SpecType::draft_simple), target(), nullptr)),
              "name it with -md");
  const model::Gguf block = dflash();
  expect_says(refusal(plan_drafts(setup(SpecType::draft_simple), target(), &block)),
              "is a drafter of architecture 'dflash'");
  const model::Gguf other = model::Gguf::open(support::lab_model("small-f16.gguf")).value();
  expect_says(refusal(plan_drafts(setup(SpecType::draft_simple), target(), &other)),
              "has the tokenizer 'gpt2'");
}

TEST_F(Checks, NgramDraftersTakeSizesAndNothingElse) {
  trace::Setup one = setup(SpecType::ngram_simple);
  one.ngram.size_n = 4;
  one.ngram.size_m = 7;
  EXPECT_TRUE(check_setup(one).has_value());
  const auto plan = plan_drafts(one, target(), nullptr);
  EXPECT_EQ(plan->n_max, 7);
  EXPECT_EQ(plan->ngram->min_hits, 1);
  EXPECT_EQ(plan_drafts(setup(SpecType::ngram_mod), target(), nullptr)->n_max, 64);
  EXPECT_EQ(plan_drafts(setup(SpecType::ngram_map_k4v), target(), nullptr)->n_max, 48);
  EXPECT_EQ(plan_drafts(setup(SpecType::ngram_cache), target(), nullptr)->n_max, 8);
  one.draft_path = "d.gguf";
  expect_says(check_setup(one).error().message, "leave -md out");
  one.draft_path.reset();
  one.draft_n_max = 3;
  expect_says(check_setup(one).error().message, "leave --spec-draft-n-max out");
}

TEST_F(Checks, ALastLayerAndTheLargestBlockStillFit) {
  const model::Gguf drafter = dflash([](gguf_context* g) {
    const std::uint32_t tap = 5;
    gguf_set_arr_data(g, "dflash.target_layers", GGUF_TYPE_UINT32, &tap, 1);
    gguf_set_val_u32(g, "dflash.block_size", 512);
  });
  EXPECT_EQ(plan_drafts(setup(SpecType::draft_dflash), target(), &drafter)->n_max, 511);
}

TEST_F(Checks, ADrafterWithoutAVocabularyUsesTheTargets) {
  const model::Gguf drafter =
      dflash([](gguf_context* g) { gguf_remove_key(g, "tokenizer.ggml.tokens"); });
  EXPECT_TRUE(plan_drafts(setup(SpecType::draft_dflash), target(), &drafter).has_value());
}

TEST_F(Checks, MtpNeedsAPredictionBlock) {
  const model::Gguf plain =
      target([](gguf_context* g) { gguf_remove_key(g, "qwen35.nextn_predict_layers"); });
  expect_says(refusal(plan_drafts(setup(SpecType::draft_mtp), plain, nullptr)),
              "The target has no MTP block");
}

/// llama.cpp goes by the key and then stops at the tensor it does not find.
TEST_F(Checks, AnMtpBlockThatIsOnlyAKeyIsRefused) {
  expect_says(refusal(plan_drafts(setup(SpecType::draft_mtp),
                                  target([](gguf_context*) {}, "blk.6.attn_norm.weight"), nullptr)),
              "lacks its tensors");
}

/// The rows it hands out are four times as wide as the drafter believes; long prompts abort.
TEST_F(Checks, ATargetWithSeveralRowsATokenHasNoDrafterThatReadsItsLayers) {
  const model::Gguf wide = target([](gguf_context* g) {
    gguf_set_val_str(g, "general.architecture", "qwen4exp");
    gguf_set_val_u32(g, "qwen4exp.embedding_length", 256);
    gguf_set_val_u32(g, "qwen4exp.block_count", 7);
    gguf_set_val_u32(g, "qwen4exp.hyper_connection.count", 4);
  });
  const model::Gguf block = dflash();
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dflash), wide, &block)), "4 rows a token");
  const model::Gguf markov =
      dspark([](support::GgufBuilder& file) { file.u32("dflash.block_size", 8); });
  expect_says(refusal(plan_drafts(setup(SpecType::draft_dspark), wide, &markov)), "4 rows a token");
  const model::Gguf eagle = eagle3();
  expect_says(refusal(plan_drafts(setup(SpecType::draft_eagle3), wide, &eagle)), "4 rows a token");
}

TEST_F(Checks, AnEagle3DrafterOfTheLastLayersRowsNeedsATargetThatHandsThemOut) {
  const model::Gguf drafter = eagle3();  // its last tap is one past the last of 6 layers
  const model::Gguf without = target([](gguf_context* g) {
    gguf_set_val_str(g, "general.architecture", "muse-glimmer");
    gguf_set_val_u32(g, "muse-glimmer.embedding_length", 256);
    gguf_set_val_u32(g, "muse-glimmer.block_count", 6);
  });
  expect_says(refusal(plan_drafts(setup(SpecType::draft_eagle3), without, &drafter)),
              "what the last layer of its target gives");
}

TEST_F(Checks, AnMtpFileOfAnotherTargetIsRefused) {
  const model::Gguf drafter = target();
  const model::Gguf other =
      target([](gguf_context* g) { gguf_set_val_str(g, "general.architecture", "qwen3"); });
  expect_says(refusal(plan_drafts(setup(SpecType::draft_mtp), other, &drafter)),
              "drafts for targets of architecture 'qwen35'");
}

TEST_F(Checks, SeveralDraftersHaveASizeEach) {
  trace::Setup several = setup(SpecType::draft_mtp, 3);
  several.asked_first = {
      {SpecType::ngram_simple, {.size_n = 4, .size_m = 7, .min_hits = {}, .n_min = {}}},
      {SpecType::ngram_cache, {}}};
  EXPECT_TRUE(check_setup(several).has_value());
  const auto plan = plan_drafts(several, target(), nullptr);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->n_max, 3);
  EXPECT_EQ(plan->longest(), 8) << "ngram-cache's";
  ASSERT_EQ(plan->asked_first.size(), 2u);
  EXPECT_EQ(plan->asked_first[0].sizes.min_hits, 1);
  several.asked_first[0].sizes.size_m = 2;
  expect_says(refusal(plan_drafts(several, target(), nullptr)), "never drafts with sizes 4/2");
}

TEST_F(Checks, AnOrderThatLlamaCppWouldNotKeepIsRefused) {
  trace::Setup several = setup(SpecType::ngram_simple);
  several.asked_first = {{SpecType::ngram_cache, {}}};
  expect_says(check_setup(several).error().message,
              "ngram-cache cannot be asked before ngram-simple");
  several.spec_type = SpecType::draft_mtp;
  several.asked_first = {{SpecType::ngram_cache, {}}, {SpecType::ngram_cache, {}}};
  expect_says(check_setup(several).error().message, "cannot be asked before ngram-cache");
}

TEST_F(Checks, AFileThatIsNoModelIsRefusedByName) {
  const auto message = [](const std::string& path) {
    return model::Gguf::open(path).error().message;
  };
  const std::string empty = folder_.path() / "empty.gguf";
  ASSERT_TRUE(util::write_file(empty, ""));
  expect_says(message(empty), "'" + empty + "' is empty");
  const std::string text = folder_.path() / "text.gguf";
  ASSERT_TRUE(util::write_file(text, "once upon a time"));
  expect_says(message(text), "is not a GGUF file");
  const std::string cut = folder_.path() / "cut.gguf";
  ASSERT_TRUE(util::write_file(cut, "GGUF\x03"));
  expect_says(message(cut), "is damaged or cut short");
  expect_says(message(folder_.path()), "is not a file");
  expect_says(message(folder_.path() / "missing.gguf"), "cannot be opened");
}

TEST_F(Checks, AFileSaysItsLayersAndVocabulary) {
  EXPECT_EQ(target().trunk_layers(), 6);
  EXPECT_EQ(target().vocabulary(), 10);
  EXPECT_EQ(dflash().own_numbers("target_layers"), (std::vector<std::int64_t>{1, 3, 5}));
  EXPECT_FALSE(target().own_number("general.architecture").has_value());
  EXPECT_FALSE(target().number("general.architecture").has_value()) << "it is a text";
}

TEST_F(Checks, NumbersNoModelCouldRunWithAreRefused) {
  const auto refused = [](const std::function<void(trace::Setup&)>& spoil) {
    trace::Setup one = setup(SpecType::draft_mtp);
    EXPECT_TRUE(check_setup(one).has_value());
    spoil(one);
    return !check_setup(one).has_value();
  };
  EXPECT_TRUE(refused([](trace::Setup& s) { s.n_ctx = 0; }));
  EXPECT_TRUE(refused([](trace::Setup& s) { s.n_ctx = (1 << 30) + 1; }));
  EXPECT_FALSE(refused([](trace::Setup& s) { s.n_ctx = 1 << 30; }));
  EXPECT_TRUE(refused([](trace::Setup& s) { s.threads = 0; }));
  EXPECT_TRUE(refused([](trace::Setup& s) { s.draft_n_max = -1; }));
  EXPECT_TRUE(refused([](trace::Setup& s) { s.draft_n_max = 2048; }));
  EXPECT_FALSE(refused([](trace::Setup& s) { s.draft_n_max = 2047; }));
  EXPECT_TRUE(refused([](trace::Setup& s) {
    s.spec_type = SpecType::none;
    s.draft_path = "d.gguf";
  }));
}

TEST_F(Checks, KvTypesAreThoseOfLlamaCppByItsNames) {
  EXPECT_EQ(kv_type(std::nullopt), GGML_TYPE_F16);
  for (const char* name : trace::kv_cache_types) {
    const auto type = kv_type(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_STREQ(ggml_type_name(*type), name);
  }
  EXPECT_FALSE(kv_type("q6_K").has_value()) << "llama.cpp takes it for weights only";
  EXPECT_FALSE(kv_type("").has_value());
  trace::Setup one = setup(SpecType::none);
  one.draft_path.reset();
  one.kv.v = "q9\x1b";
  const auto checked = check_setup(one);
  ASSERT_FALSE(checked.has_value());
  expect_says(checked.error().message, "'q9\\x1b' is no type of a KV cache");
  one.kv.v = "q4_0";
  EXPECT_TRUE(check_setup(one).has_value());
  one.draft_kv.k = "f16";
  EXPECT_FALSE(check_setup(one).has_value()) << "there is no drafter";
}

}  // namespace
}  // namespace paceline::worker
