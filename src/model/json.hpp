#pragma once

#include "model/file_facts.hpp"
#include "util/json.hpp"

namespace paceline::model {

PACELINE_JSON_FIELDS(TensorGroup, 6, tensor_class, type, tensors, elements, bytes, blocks);
PACELINE_JSON_FIELDS(Imatrix, 4, file, dataset, entries, chunks);
PACELINE_JSON_FIELDS(DrafterFacts, 6, kind, block, longest_draft, target_layers, nextn_layers,
                     recipe);
PACELINE_JSON_FIELDS(SplitFacts, 4, count, number, present, missing);
PACELINE_JSON_FIELDS(RopeScaling, 3, type, factor, original_context);
PACELINE_JSON_FIELDS(FileFacts, 20, path, gguf_version, architecture, name, file_bytes, parameters,
                     recipe, file_type, imatrix, layers, embedding_length, vocabulary,
                     context_train, has_chat_template, sampling, drafter, split, oddities,
                     synthetic, rope_scaling);

}  // namespace paceline::model
