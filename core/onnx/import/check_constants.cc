// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/check_constants.h"

#include <cmath>
#include <unordered_set>

#include "core/base/mapped_pages.h"

namespace octavo::onnx {
namespace {

bool MayBeInfinite(const ir::Graph& graph, const ir::Value& value, bool part) {
  const bool single = value.constant->tensor.size() == 1;
  for (const ir::Use& use : value.uses) {
    const ir::Role role = graph.node(use.node).op->RoleOf(static_cast<size_t>(use.input));
    if (role != ir::Role::kParameter && (role != ir::Role::kData || !single)) return false;
  }
  return value.output_uses == 0 || part;
}

Status CheckFinite(const ir::Graph& graph, const ir::Value& value, bool part) {
  if (!value.constant || value.type.dtype != ir::DType::kF32) return {};
  const bool may_be_infinite = MayBeInfinite(graph, value, part);
  for (const float element : value.constant->tensor.values<float>()) {
    if (std::isfinite(element) || (std::isinf(element) && may_be_infinite)) continue;
    return Fail(Code::kInvalidArgument, "constant '{}' holds {}; it must hold finite numbers",
                value.name, std::isnan(element) ? "a NaN" : "an infinity")
        .Field(value.name)
        .Reason("NOT_FINITE");
  }
  ReleasePages(value.constant->tensor.raw_bytes());
  return {};
}

}  // namespace

Status CheckConstants(const ir::Graph& graph,
                      const std::function<bool(const std::string& name)>& is_data, bool part) {
  std::unordered_set<ir::ValueId> seen;
  const auto check = [&](ir::ValueId id) -> Status {
    if (!id || !seen.insert(id).second || is_data(graph.name(id))) return {};
    return CheckFinite(graph, graph.value(id), part);
  };
  for (const ir::NodeId id : graph.nodes()) {
    for (const ir::ValueId input : graph.node(id).inputs) OCTAVO_CHECK(check(input));
  }
  for (const ir::ValueId output : graph.outputs()) OCTAVO_CHECK(check(output));
  return {};
}

}  // namespace octavo::onnx
