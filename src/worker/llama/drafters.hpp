#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common.h"
#include "speculative.h"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// llama.cpp's name for a way to draft.
common_speculative_type library_type(trace::SpecType type);

/// Where a draft begins and how long it may be.
struct DraftRequest {
  const llama_tokens& past;  ///< tokens in the KV cache
  llama_token last = 0;      ///< emitted, not yet decoded
  int room = 0;              ///< most tokens to offer; at least 1
};

/// What asking for one draft came to.
struct Drafted {
  int attempts = 0;              ///< drafters that were run, the first so many
  std::optional<int> generated;  ///< tokens they computed; absent when that is not known
  std::string drafter;           ///< the spec type that made the draft; empty: none did
};

/// The drafters of one arm, as llama.cpp holds them. They are asked in llama.cpp's own order until
/// one drafts something, by ourselves: inside the library nobody learns which one it was.
class Drafters {
 public:
  /// Makes them anew, without anything they have learned.
  util::Result<void> renew(const trace::Setup& setup, const common_params_speculative& parameters);

  /// Once a prompt has been processed.
  void begin(const llama_tokens& past);

  /// Shows a batch that the target has decoded to the drafter that has a model; false: it failed.
  bool process(const llama_batch& batch);

  /// Asks for a draft, cut to the room, into `draft`, which must be empty.
  Drafted draft(const DraftRequest& request, llama_tokens& draft);

  /// The same of the drafter that has a model, alone.
  void draft_with_model(const DraftRequest& request, llama_tokens& draft);

  /// Tells them that so many tokens of the last draft were accepted.
  void accept(int accepted);

  /// The longest draft of any in tokens, and of the last one that is asked, after llama.cpp's own
  /// clamp; 0 without any.
  int longest() const;
  int longest_of_last() const;

 private:
  struct One {
    trace::SpecType type = trace::SpecType::none;
    common_speculative_ptr library;

    bool has_model() const { return !trace::is_ngram(type); }
    /// True of those that compute their longest draft whatever the room, and have it cut.
    bool computes_whole_drafts() const;
    void run(const DraftRequest& request, llama_tokens& draft);
  };

  util::Result<void> add(trace::SpecType type, common_params_speculative parameters,
                         bool has_others_before);
  One* model_drafter();

  std::vector<One> all_;
  std::size_t winner_ = 0;  ///< made the last draft
};

}  // namespace paceline::worker
