// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/known_ops.h"

#include <algorithm>

#include "core/onnx/import/quantized_ops.h"
#include "core/onnx/versions/conversions.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {

bool IsKnownOp(const onnx_wire::Node& node, const OpFinder& find_op) {
  const std::string& op = node.op_type();
  const std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
  if (FindQuantizedOp(op, domain) != nullptr) return true;
  if (ops::FindOp(op, domain) != nullptr) return true;
  if (find_op && find_op(op, domain) != nullptr) return true;
  if (!domain.empty()) return false;
  if (op == "Constant") return true;
  // Operators of older opsets, which a conversion replaces.
  return std::ranges::any_of(AllConversions(), [&](const VersionRow& row) {
    return std::find(row.ops.begin(), row.ops.end(), op) != row.ops.end();
  });
}

bool HasPlainKind(const onnx_wire::Attribute& attribute) {
  using Wire = onnx_wire::Attribute;
  if (attribute.has_g()) return false;
  switch (attribute.type()) {
    case Wire::GRAPH:
    case Wire::TENSORS:
    case Wire::GRAPHS:
    case Wire::SPARSE_TENSOR:
    case Wire::SPARSE_TENSORS:
    case Wire::TYPE:
    case Wire::TYPES:
      return false;
    default:
      return true;
  }
}

}  // namespace octavo::onnx
