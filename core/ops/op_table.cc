#include "core/ops/op_table.h"

#include <algorithm>

namespace octavo::ops {
namespace {

auto KeyOf(const ir::OpDef* op) { return std::pair(op->domain, op->name); }

std::vector<const ir::OpDef*> SortedOps() {
  std::vector<const ir::OpDef*> all;
  all.insert(all.end(), ComputeOps().begin(), ComputeOps().end());
  all.insert(all.end(), DataOps().begin(), DataOps().end());
  std::ranges::sort(all, {}, KeyOf);
  return all;
}

}  // namespace

std::span<const ir::OpDef* const> AllOps() {
  static const std::vector<const ir::OpDef*> all = SortedOps();
  return all;
}

const ir::OpDef* FindOp(std::string_view name, std::string_view domain) {
  if (domain == "ai.onnx") domain = "";
  const auto key = std::pair(domain, name);
  const auto at = std::ranges::lower_bound(AllOps(), key, {}, KeyOf);
  return at != AllOps().end() && KeyOf(*at) == key ? *at : nullptr;
}

}  // namespace octavo::ops
