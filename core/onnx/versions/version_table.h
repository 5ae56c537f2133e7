// SPDX-License-Identifier: Apache-2.0
// Operator versions of opsets 1 to 24.  A graph uses the newest version of every operator: import
// upgrades each node from the model's opset, export downgrades it to the target opset.  The
// conversions and their rows are in the other files of this folder (conversions.h).
#pragma once

#include <string_view>

#include "core/onnx/versions/draft.h"

namespace octavo::onnx {

inline constexpr int64_t kOldestOpset = 1;
// Octavo reads opsets before 7 but does not write them: they lack multidirectional broadcasting.
inline constexpr int64_t kOldestWritten = 7;
inline constexpr int64_t kNewestOpset = 24;
inline constexpr int64_t kNewestIrVersion = 12;

// The producer_name of models that Octavo wrote.
inline constexpr std::string_view kProducer = "octavo";
// ONNX requires a graph name; export writes this one for a graph without a name.
inline constexpr std::string_view kNoName = "unnamed";

// Names of tensors that export adds in front of QuantizeLinear for a runtime with quirks, and
// import drops again: NAME.guard is NAME, with zeros for NaN where NAME.is_nan says so.
inline constexpr std::string_view kGuardSuffix = ".guard";
inline constexpr std::string_view kIsNanSuffix = ".is_nan";
// The same around a sum that such a runtime has to compute in double: NAME.wide is its operand and
// NAME.sum its result, which is cast to NAME.
inline constexpr std::string_view kWideSuffix = ".wide";
inline constexpr std::string_view kSumSuffix = ".sum";

// The opset that introduced an operator; 1 for an unknown operator name.
int64_t FirstVersion(std::string_view op);

// Converts a draft of `opset` to the newest version, by rows in ascending order of `since`.
Status UpgradeToNewest(const ir::Graph& graph, int64_t opset, Conversion& conversion);
// Converts a draft of the newest version to `opset`, by rows in descending order of `since`;
// decomposes an operator that the opset lacks.  Returns 0, or, if the opset cannot express the
// node, the lowest opset that may.
int64_t DowngradeTo(const ir::Graph& graph, int64_t opset, Conversion& conversion);

// The lowest IR version that allows an opset.
int64_t IrVersionOf(int64_t opset);

}  // namespace octavo::onnx
