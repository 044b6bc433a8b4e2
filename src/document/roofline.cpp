#include "document/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "util/misused.hpp"

namespace paceline::document {

namespace {

constexpr const char* not_observed = "not observed: --observe counts it in real passes";
constexpr const char* no_bandwidth =
    "no bandwidth was given: `paceline machine --probe` measures one, --bandwidth takes it";
constexpr const char* no_device_bandwidth =
    "no bandwidth of the device was given: `paceline machine --probe` measures one, "
    "--device-bandwidth takes it";
constexpr const char* no_offload = "no layers on a device: -ngl places them";
constexpr const char* drafter_not_placed =
    "-ngl places the target's layers: where a drafter of its own file lies is not asked";
constexpr const char* no_experts = "the model has no experts";

constexpr double infinity = std::numeric_limits<double>::infinity();

using Classes = std::vector<model::BytesOfClass>;

const char* part_name(trace::PassPart part) {
  if (part == trace::PassPart::taking_in) return "taking_in";
  return part == trace::PassPart::draft ? "draft" : "target";
}

/// Who reads in a pass of each part.
struct Readers {
  model::ReadFacts target;
  std::optional<model::ReadFacts> drafter;
};

/// Formula and observation of one pass, class by class.
class Maker {
 public:
  explicit Maker(const RooflineQuestion& question) : question_(question) {}

  util::Result<Roofline> make() {
    if (!question_.target.reads)
      return util::misused("the bytes of a pass are not known: {}", question_.target.reads_unknown);
    whole_.target = *question_.target.reads;
    PACELINE_TRY(find_drafter());
    fill_facts();
    PACELINE_TRY(fill_token());
    PACELINE_TRY(question_.observation ? add_observed() : add_asked());
    add_observation();
    return std::move(made_);
  }

 private:
  util::Result<void> find_drafter() {
    if (question_.predicts) {
      const auto& part = question_.target.drafter;
      if (!part || !part->reads)
        return util::misused("the target has no multi-token prediction whose bytes are known");
      whole_.drafter = *part->reads;
    }
    if (!question_.drafter) return {};
    if (!question_.drafter->reads)
      return util::misused("the bytes of a draft are not known: {}",
                           question_.drafter->reads_unknown);
    whole_.drafter = model::with_borrowed(*question_.drafter->reads, whole_.target);
    return {};
  }

  void fill_facts() {
    made_.model = to_model(question_.target);
    made_.drafter = not_known<Model>("no drafter with a file of its own was named");
    if (question_.drafter) made_.drafter = known(to_model(*question_.drafter));
    made_.n_ctx = question_.shape.n_ctx;
    made_.n_ubatch = question_.shape.n_ubatch;
    made_.cache_type_k = question_.shape.cache_type_k;
    made_.cache_type_v = question_.shape.cache_type_v;
    made_.bandwidth = known_or(question_.bandwidth, no_bandwidth);
    made_.n_gpu_layers = not_known<int>(no_offload);
    made_.device_bandwidth = not_known<double>(no_offload);
    if (!question_.offload) return;
    made_.n_gpu_layers = known(question_.offload->n_gpu_layers);
    made_.device_bandwidth = known_or(question_.offload->bandwidth, no_device_bandwidth);
  }

  util::Result<void> fill_token() {
    model::PassShape one = question_.shape;
    one.width = 1;
    one.depth = 0;
    PACELINE_TRY_ASSIGN(const Classes classes, model::bytes_of_pass(whole_.target, one));
    TokenRead& token = made_.token;
    token.parameters = model::parameters_of_token(whole_.target);
    for (const auto& each : classes)
      if (each.name != "KV" && each.name != "recurrent state") token.weight_bytes += each.bytes;
    if (token.parameters > 0) token.bits_per_weight = 8 * token.weight_bytes / token.parameters;
    token.bytes_at_4_bits = token.parameters / 2;
    token.file_bytes_at_4_bits = static_cast<double>(question_.target.parameters) / 2;
    token.parameters_beside =
        std::max(0.0, static_cast<double>(question_.target.parameters) - token.parameters);
    return {};
  }

  static util::Result<Classes> formula(const Readers& readers, trace::PassPart part,
                                       const model::PassShape& shape) {
    if (part == trace::PassPart::target) return model::bytes_of_pass(readers.target, shape);
    const auto& drafter = readers.drafter;
    if (!drafter) return util::misused("no drafter was named");
    // A cache of its own has types of its own; one that takes nothing in reads its target's.
    model::PassShape own = shape;
    const bool has_cache = drafter->takes_in_by_pass || drafter->block_anchors;
    if (has_cache) own.cache_type_k = own.cache_type_v = model::PassShape().cache_type_k;
    if (part == trace::PassPart::taking_in) return model::bytes_of_taking_in(*drafter, own);
    return model::bytes_of_draft(*drafter, own.width, own);
  }

  util::Result<void> add(trace::PassPart part, int width, int depth,
                         const trace::ObservedPass* observed) {
    RooflinePass pass;
    pass.part = part_name(part);
    pass.width = width;
    pass.depth = depth;
    model::PassShape shape = question_.shape;
    shape.width = width;
    shape.depth = depth;
    PACELINE_TRY(add_experts(shape, part, observed, pass));
    PACELINE_TRY_ASSIGN(const Classes classes, formula(whole_, part, shape));
    pass.bytes = model::total_bytes(classes);
    for (const auto& each : classes)
      pass.classes.push_back(
          {each.name, known(each.bytes), each.is_model, not_known<double>(not_observed)});
    add_observed_classes(observed, pass);
    // A drafter that shares its target's memory takes nothing in.
    if (pass.classes.empty()) return {};
    PACELINE_TRY(add_places(part, shape, pass));
    pass.ceiling_per_s = ceiling_of(pass);
    made_.passes.push_back(std::move(pass));
    return {};
  }

  util::Result<void> add_places(trace::PassPart part, const model::PassShape& shape,
                                RooflinePass& pass) const {
    const bool placed = part == trace::PassPart::target || !question_.drafter;
    const char* const why_not = question_.offload ? drafter_not_placed : no_offload;
    pass.device_bytes = pass.cpu_bytes = not_known<double>(why_not);
    if (!question_.offload || !placed) return {};
    const auto bytes_at = [&](const model::ReadsAt& reads) -> util::Result<Known<double>> {
      PACELINE_TRY_ASSIGN(const Classes classes,
                          formula({reads.target, reads.prediction}, part, shape));
      return known(model::total_bytes(classes));
    };
    PACELINE_TRY_ASSIGN(pass.device_bytes, bytes_at(question_.offload->reads.device));
    PACELINE_TRY_ASSIGN(pass.cpu_bytes, bytes_at(question_.offload->reads.cpu));
    return {};
  }

  /// What two memories permit, of which one is read after the other.
  Known<double> ceiling_of(const RooflinePass& pass) const {
    if (pass.bytes <= 0) return not_known<double>("by the formula it reads nothing");
    const auto& of_cpu = question_.bandwidth;
    if (!question_.offload)
      return of_cpu ? known(*of_cpu / pass.bytes) : not_known<double>(no_bandwidth);
    if (!pass.cpu_bytes.value) return not_known<double>(pass.cpu_bytes.reason);
    const auto& of_device = question_.offload->bandwidth;
    const double on_cpu = *pass.cpu_bytes.value;
    const double on_device = *pass.device_bytes.value;
    if (on_cpu > 0 && !of_cpu) return not_known<double>(no_bandwidth);
    if (on_device > 0 && !of_device) return not_known<double>(no_device_bandwidth);
    return known(1 /
                 (on_cpu / of_cpu.value_or(infinity) + on_device / of_device.value_or(infinity)));
  }

  /// Of a mixture the formula is asked with as many experts as were read; what uniform routing
  /// would have led to stands beside it.
  util::Result<void> add_experts(model::PassShape& shape, trace::PassPart part,
                                 const trace::ObservedPass* observed, RooflinePass& pass) {
    pass.experts_per_layer = not_known<double>(no_experts);
    pass.uniform_experts = not_known<double>(no_experts);
    pass.uniform_bytes = not_known<double>(no_experts);
    if (part != trace::PassPart::target || !whole_.target.experts) return {};
    pass.uniform_experts = known(uniform_experts(shape.width));
    PACELINE_TRY_ASSIGN(const Classes uniform, model::bytes_of_pass(whole_.target, shape));
    pass.uniform_bytes = known(model::total_bytes(uniform));
    pass.experts_per_layer = not_known<double>(not_observed);
    if (observed == nullptr || !observed->experts_per_layer) return {};
    pass.experts_per_layer = known(*observed->experts_per_layer);
    shape.experts_per_layer = observed->experts_per_layer;
    return {};
  }

  double uniform_experts(int width) const {
    const model::ExpertsRead& experts = *whole_.target.experts;
    return experts.count *
           (1 - std::pow(1 - static_cast<double>(experts.used) / experts.count, width));
  }

  static void add_observed_classes(const trace::ObservedPass* observed, RooflinePass& pass) {
    pass.observed = not_known<double>(not_observed);
    pass.difference = not_known<double>(not_observed);
    if (observed == nullptr) return;
    double total = 0;
    for (RooflineClass& one : pass.classes) one.observed = known(0.0);
    for (const trace::ClassRead& read : observed->classes) {
      const auto bytes = static_cast<double>(read.bytes);
      total += bytes;
      const auto found =
          std::find_if(pass.classes.begin(), pass.classes.end(),
                       [&](const RooflineClass& one) { return one.name == read.name; });
      if (found != pass.classes.end())
        found->observed = known(bytes);
      else if (bytes > 0)
        pass.classes.push_back({read.name, known(0.0), false, known(bytes)});
    }
    pass.observed = known(total);
    if (pass.bytes > 0) pass.difference = known(total / pass.bytes - 1);
  }

  util::Result<void> add_observed() {
    for (const trace::ObservedPass& pass : question_.observation->passes)
      PACELINE_TRY(add(pass.part, pass.width, pass.depth, &pass));
    return {};
  }

  util::Result<void> add_asked() {
    for (const int width : question_.widths) {
      PACELINE_TRY(add(trace::PassPart::target, width, question_.shape.depth, nullptr));
      if (!whole_.drafter) continue;
      PACELINE_TRY(add(trace::PassPart::taking_in, width, question_.shape.depth, nullptr));
    }
    if (!whole_.drafter) return {};
    return add(trace::PassPart::draft, question_.draft_tokens, question_.shape.depth, nullptr);
  }

  void add_observation() {
    made_.tables = not_known<std::vector<GatheredTable>>(not_observed);
    made_.experts = not_known<ExpertUse>(whole_.target.experts ? not_observed : no_experts);
    made_.speculative =
        not_known<std::vector<ExpertUnion>>(!whole_.target.experts ? no_experts
                                            : whole_.drafter       ? not_observed
                                                                   : "no drafter was named");
    if (!question_.observation) return;
    const trace::Observation& seen = *question_.observation;
    std::vector<GatheredTable> tables;
    for (const trace::ObservedTable& table : seen.tables) tables.push_back(to_table(table));
    made_.tables = known(std::move(tables));
    if (seen.experts)
      made_.experts = known(ExpertUse{seen.experts->layers, seen.experts->count,
                                      seen.experts->picks, seen.experts->shares});
    if (!whole_.target.experts || !whole_.drafter) return;
    std::vector<ExpertUnion> unions;
    for (const trace::SpeculativeUnion& one : seen.speculative)
      unions.push_back({one.width, one.passes, one.offered, one.accepted, one.experts_per_layer,
                        uniform_experts(one.width)});
    made_.speculative = known(std::move(unions));
  }

  static GatheredTable to_table(const trace::ObservedTable& table) {
    GatheredTable made;
    made.name = table.name;
    made.row_bytes = static_cast<double>(table.row_bytes);
    made.table_bytes = static_cast<double>(table.table_bytes);
    made.tokens = table.tokens;
    made.gathers = table.gathers;
    made.different_rows = table.different_rows;
    made.pages_per_token = table.pages_per_token;
    made.same_page_share = not_known<double>("fewer than two rows were read");
    if (table.gathers > 1)
      made.same_page_share = known(static_cast<double>(table.on_the_same_page) /
                                   static_cast<double>(table.gathers - 1));
    return made;
  }

  const RooflineQuestion& question_;
  Readers whole_;
  Roofline made_;
};

}  // namespace

util::Result<Roofline> to_roofline(const RooflineQuestion& question) {
  return Maker(question).make();
}

}  // namespace paceline::document
