#pragma once

#include "model/file_facts.hpp"
#include "util/json.hpp"

namespace paceline::model {

PACELINE_JSON_FIELDS(WeightsRead, 3, name, bytes, elements);
PACELINE_JSON_FIELDS(RowsRead, 6, name, rows, row_bytes, row_elements, table_bytes, spared);
PACELINE_JSON_FIELDS(ExpertsRead, 5, layers, count, used, bytes, elements);
PACELINE_JSON_FIELDS(CacheRead, 4, layers, key_elements, value_elements, window);
PACELINE_JSON_FIELDS(ReadFacts, 10, weights, rows, experts, caches, recurrent_bytes, borrowed,
                     taking_in, takes_in_by_pass, takes_in_with_head, block_anchors);
PACELINE_JSON_FIELDS(TensorGroup, 6, tensor_class, type, tensors, elements, bytes, blocks);
PACELINE_JSON_FIELDS(Imatrix, 4, file, dataset, entries, chunks);
PACELINE_JSON_FIELDS(DrafterFacts, 7, kind, block, longest_draft, target_layers, nextn_layers,
                     recipe, reads);
PACELINE_JSON_FIELDS(SplitFacts, 4, count, number, present, missing);
PACELINE_JSON_FIELDS(RopeScaling, 3, type, factor, original_context);
PACELINE_JSON_FIELDS(FileFacts, 22, path, gguf_version, architecture, name, file_bytes, parameters,
                     recipe, file_type, imatrix, layers, embedding_length, vocabulary,
                     context_train, has_chat_template, sampling, drafter, split, oddities,
                     synthetic, rope_scaling, reads, reads_unknown);

}  // namespace paceline::model
