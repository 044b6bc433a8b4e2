#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/file_facts.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// The temperature of an arm where neither the user nor the model's file says one.
inline constexpr double default_temperature = 0.7;

/// The largest size of an n-gram drafter, in tokens, as llama-server has it; the worker refuses
/// more by itself.
inline constexpr int most_ngram_size = 1024;

/// The widest pass that every engine of ours can time, in tokens.
inline constexpr int most_widest_pass = 16;

/// Where draft tokens are picked: on the device, on the host, or an arm of each.
enum class BackendSampling { on, off, both };

/// What the options say about arms. A plain arm is added unless it is left out by name.
struct ArmSettings {
  std::string model;
  std::optional<std::string> draft_model;
  std::vector<std::string> spec_types;  ///< of one arm; empty: not asked for
  std::optional<int> draft_n_max;
  std::optional<double> draft_p_min;
  std::optional<trace::SpecType> found_type;  ///< what -md's file is; used without --spec-type
  std::map<trace::SpecType, trace::NgramSizes> ngram;  ///< by type
  std::optional<double> accept_length;
  std::vector<double> accept_rates;
  std::optional<trace::AcceptSchedule> accept_schedule;
  std::optional<BackendSampling> backend_sampling;
  std::vector<std::string> extra;       ///< TYPE[:N[:FILE]], or of n-grams TYPE[:SIZES]; several of
                                        ///< them in one arm with + between them
  std::vector<std::string> kv_k;        ///< types of trace::kv_cache_types, each in an arm of its
                                        ///< own with each of the others; empty: the engine's
  std::vector<std::string> kv_v;        ///< likewise
  std::vector<std::string> draft_kv_k;  ///< likewise, of a drafter with a context of its own
  std::vector<std::string> draft_kv_v;  ///< likewise
  bool no_plain = false;
  int n_ctx = 4096;
  std::optional<int> threads;  ///< absent: all cores but one
  trace::Sampling sampling;    ///< as asked; the tool's own temperature is put in
};

/// The arms these settings ask for, plain first; names tell type and draft length, or sizes, and
/// what differs between arms of a KV cache's types. Each is held against the plain arm of its own.
util::Result<std::vector<trace::Arm>> make_arms(const ArmSettings& settings);

/// How drafts are made with a file, from what it is, as llama-server finds it; the error names a
/// kind of drafter that cannot be run.
util::Result<trace::SpecType> drafter_type(const model::FileFacts& file);

/// The widest pass worth timing: two tokens past the longest draft's, so that the neighbours of
/// every draft length show; from 8 to most_widest_pass.
int widest_pass(const std::vector<trace::Arm>& arms);

/// All cores that this process may use, but one, and at least one.
int default_threads();

}  // namespace paceline::cli
