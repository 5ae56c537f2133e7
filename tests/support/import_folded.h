// SPDX-License-Identifier: Apache-2.0
// Loads an ONNX model as job::Load does: imports it and runs the pass fold-qdq.
#pragma once

#include "core/ir/qdq_notes.h"
#include "core/onnx/import/import.h"
#include "core/passes/passes.h"

namespace octavo::test {

struct Folded : onnx::Imported {
  passes::Findings findings = {};
};

inline Result<Folded> ImportFolded(const Blob& model, const onnx::ImportOptions& options = {}) {
  Folded folded;
  OCTAVO_TRY(static_cast<onnx::Imported&>(folded), onnx::ImportModel(model, options));
  ThreadPool pool(1);
  const passes::Settings settings{.pool = &pool};
  const passes::Pass* const pipeline[] = {&passes::kFoldQdqPass};
  OCTAVO_TRY(const auto records,
             passes::RunPipeline(pipeline, {}, settings, folded.graph, folded.findings));
  folded.graph.metadata.erase(ir::kQdqFloatsKey);
  folded.graph.metadata.erase(ir::kKeptFloatKey);
  return folded;
}

}  // namespace octavo::test
