// SPDX-License-Identifier: Apache-2.0
// What a job and a command do about the opaque part of a model (core/onnx/wire/opaque_part.h).
#pragma once

#include <string>
#include <vector>

#include "core/ir/warning.h"
#include "core/job/stages.h"

namespace octavo::job {

// kUnimplemented for a form of the result that cannot hold the part, and for a certificate of a job
// with values of the part; kUsage for a gate if `graph` computes nothing to judge.
Status CheckOpaque(const JobContext& job, const onnx::Contract& contract, const ir::Graph& graph);

// Adds the nodes of the part, which stay float.
void AddOpaqueNodes(const onnx::Contract& contract, std::vector<passes::FloatNode>& nodes);
// Adds them to the model's figures.
void CountOpaqueNodes(const onnx::Contract& contract, ModelFigures& figures);

// The names of --keep-float without those of nodes of the part, which stay float anyway.
std::vector<std::string> NamesInGraph(const std::vector<std::string>& names,
                                      const onnx::Contract& contract);

// The warnings of import about the part.
void WarnOfOpaque(const onnx::Imported& model, std::vector<ir::Warning>& warnings);

}  // namespace octavo::job
