#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/known.hpp"
#include "document/model.hpp"
#include "document/tool.hpp"
#include "model/bytes.hpp"
#include "model/placing.hpp"
#include "trace/observation.hpp"
#include "util/result.hpp"

namespace paceline::document {

/// What one part of a pass reads of one class.
struct RooflineClass {
  std::string name;
  Known<double> bytes;     ///< by the formula
  bool is_model = false;   ///< of `bytes`: what uniform routing would lead to
  Known<double> observed;  ///< by the graph's operands
};

/// One part of a pass of one width at one depth.
struct RooflinePass {
  std::string part;  ///< "target", "taking_in" or "draft"
  int width = 0;     ///< tokens of the target's pass; of a draft those that are drafted
  int depth = 0;     ///< tokens in the KV cache before it
  std::vector<RooflineClass> classes;
  double bytes = 0;                 ///< by the formula, all classes
  Known<double> device_bytes;       ///< of those, with layers on a device
  Known<double> cpu_bytes;          ///< the others, likewise
  Known<double> observed;           ///< likewise
  Known<double> difference;         ///< observed / bytes - 1
  Known<double> ceiling_per_s;      ///< by both bandwidths, one device after the other
  Known<double> experts_per_layer;  ///< different ones that were read, in the mean
  Known<double> uniform_experts;    ///< what uniform routing would lead to
  Known<double> uniform_bytes;      ///< all classes, with as many experts as that
};

/// How a table was gathered from.
struct GatheredTable {
  std::string name;
  double row_bytes = 0;
  double table_bytes = 0;
  std::uint64_t tokens = 0;
  std::uint64_t gathers = 0;
  std::uint64_t different_rows = 0;
  Known<double> same_page_share;  ///< of gathers, from the page that the one before was from
  double pages_per_token = 0;
};

/// Which experts tokens were sent to.
struct ExpertUse {
  int layers = 0;
  int count = 0;
  std::uint64_t picks = 0;
  std::vector<double> shares;  ///< the most picked first
};

/// Experts that real passes with drafts read.
struct ExpertUnion {
  int width = 0;
  int passes = 0;
  int offered = 0;
  int accepted = 0;
  double experts_per_layer = 0;
  double uniform_experts = 0;  ///< what uniform routing would lead to
};

/// What the target reads for one token at the start of a text.
struct TokenRead {
  double parameters = 0;
  double weight_bytes = 0;  ///< without KV and recurrent state
  double bits_per_weight = 0;
  double bytes_at_4_bits = 0;       ///< of as many parameters at exactly 4 bits each
  double file_bytes_at_4_bits = 0;  ///< of all parameters of the file, likewise
  double parameters_beside = 0;  ///< of the file, that no token reads all of: tables, experts, MTP
};

/// Bytes of a pass against a bandwidth: paceline.roofline/1.
struct Roofline {
  std::string schema = "paceline.roofline/1";
  Tool tool;
  std::string created;
  Model model;
  Known<Model> drafter;  ///< a file of its own
  int n_ctx = 0;
  int n_ubatch = 0;
  std::string cache_type_k;
  std::string cache_type_v;
  Known<double> bandwidth;         ///< in bytes a second, as given; with layers on a device that
                                   ///< of the CPU
  Known<int> n_gpu_layers;         ///< as asked for, the output among them
  Known<double> device_bandwidth;  ///< in bytes a second, as given
  TokenRead token;
  std::vector<RooflinePass> passes;
  Known<std::vector<GatheredTable>> tables;
  Known<ExpertUse> experts;
  Known<std::vector<ExpertUnion>> speculative;
  std::vector<std::string> notes;
};

/// Layers of the target on a device.
struct Offload {
  int n_gpu_layers = 0;
  model::PlacedReads reads;
  std::optional<double> bandwidth;
};

/// What a roofline is made from.
struct RooflineQuestion {
  model::FileFacts target;
  std::optional<model::FileFacts> drafter;  ///< a file of its own
  bool predicts = false;                    ///< drafts with the target's MTP blocks
  int draft_tokens = 0;                     ///< of one draft
  model::PassShape shape;                   ///< depth, context and cache; its width does not count
  std::vector<int> widths;
  std::optional<double> bandwidth;
  std::optional<Offload> offload;
  std::optional<trace::Observation> observation;
};

/// Fills all but tool, date and notes. The error says why the bytes are not known.
util::Result<Roofline> to_roofline(const RooflineQuestion& question);

}  // namespace paceline::document
