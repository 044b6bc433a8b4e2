#include "document/claim.hpp"
#include "util/json.hpp"

namespace paceline::document {

PACELINE_JSON_FIELDS(Tool, 2, name, version);
PACELINE_JSON_FIELDS(GivenFigure, 8, name, value, low, high, values, text, source, definition);
PACELINE_JSON_FIELDS(DerivedFigure, 6, name, value, low, high, rule, from);
PACELINE_JSON_FIELDS(NotDerived, 2, name, reason);
PACELINE_JSON_FIELDS(ClaimReading, 6, meaning, tokens_per_pass, passes_per_s, pass_cost, consistent,
                     why);
PACELINE_JSON_FIELDS(ClaimRow, 7, label, format, context, given, derived, not_derived, readings);
PACELINE_JSON_FIELDS(ClaimContradiction, 5, rule, row, says, one, other);
PACELINE_JSON_FIELDS(ClaimRemark, 3, kind, row, says);
PACELINE_JSON_FIELDS(ClaimFact, 6, fact, name, reason, changes, question, command);
PACELINE_JSON_FIELDS(ClaimFacts, 4, known, missing, not_applicable, verdict);
PACELINE_JSON_FIELDS(ClaimInput, 5, name, lines, understood, skipped, formats);
PACELINE_JSON_FIELDS(Claim, 9, schema, tool, created, inputs, rows, across, contradictions, remarks,
                     facts);

std::string to_json_text(const Claim& claim) { return util::dump_json(claim); }

}  // namespace paceline::document
