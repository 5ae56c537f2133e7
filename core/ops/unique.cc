// SPDX-License-Identifier: Apache-2.0
// Unique(x) {axis, sorted}: the distinct elements, or slices along an axis; with the first position
// of each, the index of the distinct element at every position, and the count of each.  Type
// inference must know their number.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/ops/shared/flat_axis.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt},
                                        {"sorted", ir::AttrKind::kInt}};

// x as (outer, extent, inner); `extent` counts the compared elements or slices.
struct Slices {
  int64_t outer = 1, extent = 0, inner = 1;
};

Slices SlicesOf(const ir::Node& node, const ir::Shape& shape) {
  const int64_t size = ir::NumElements(shape);
  if (!node.attributes.Has("axis")) return {1, size, 1};
  const auto axis = FrontAxis(node.attributes.Int("axis", 0), static_cast<int>(shape.size()));
  const int64_t inner = ir::StridesOf(shape)[axis];
  return {size == 0 ? 0 : size / (shape[axis] * inner), shape[axis], inner};
}

struct Found {
  std::vector<int64_t> first = {}, inverse = {}, counts = {};
};

Found Find(const ir::Tensor& x, const ir::Node& node) {
  const Slices slices = SlicesOf(node, x.shape());
  const auto at = [&](int64_t slice, int64_t i) {
    return ((i / slices.inner) * slices.extent + slice) * slices.inner + i % slices.inner;
  };
  const bool whole = !ir::IsFloat(x.dtype());
  // -1, 0 or 1 if slice a comes before, equals or comes after b.
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < slices.outer * slices.inner; ++i) {
      const int64_t p = at(a, i), q = at(b, i);
      const bool less = whole ? x.IntAt(p) < x.IntAt(q) : x.FloatAt(p) < x.FloatAt(q);
      const bool more = whole ? x.IntAt(q) < x.IntAt(p) : x.FloatAt(q) < x.FloatAt(p);
      if (less || more) return less ? -1 : 1;
    }
    return 0;
  };
  std::vector<int64_t> order(slices.extent);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  Found found;
  found.inverse.resize(slices.extent);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      found.first.push_back(order[i]);
      found.counts.push_back(0);
    }
    found.inverse[order[i]] = static_cast<int64_t>(found.first.size()) - 1;
    ++found.counts.back();
  }
  return found;
}

// Sorts by first position instead of by value.
Found InOrderOfPlaces(const Found& found) {
  std::vector<int64_t> order(found.first.size()), rank(found.first.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) { return found.first[i]; });
  Found result{.inverse = found.inverse};
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<int64_t>(i);
    result.first.push_back(found.first[order[i]]);
    result.counts.push_back(found.counts[order[i]]);
  }
  for (int64_t& place : result.inverse) place = rank[place];
  return result;
}

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, AxisOrFlat(context, shape));
  const ir::Tensor* x = context.known(0);
  if (x == nullptr) return DependsOnData(context, 0, "how many different elements there are");
  const int64_t places = shape[axis];
  const auto count = static_cast<int64_t>(Find(*x, context.node()).first.size());
  shape[axis] = count;
  context.SetResult(0, context.dtype(0), shape);
  for (size_t i = 1; i < context.result_count(); ++i) {
    context.SetResult(i, ir::DType::kI64, {i == 2 ? places : count});
  }
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  Found found = Find(x, context.node);
  if (context.node.attributes.Int("sorted", 1) == 0) found = InOrderOfPlaces(found);
  const Slices slices = SlicesOf(context.node, x.shape());
  const int64_t bytes = slices.inner * ir::SizeOf(x.dtype());
  std::byte* to = context.out().mutable_raw();
  for (int64_t outer = 0; outer < slices.outer; ++outer) {
    for (const int64_t slice : found.first) {
      std::memcpy(to, x.raw() + (outer * slices.extent + slice) * bytes, bytes);
      to += bytes;
    }
  }
  const std::vector<int64_t>* lists[] = {nullptr, &found.first, &found.inverse, &found.counts};
  for (size_t i = 1; i < context.results.size(); ++i) {
    std::ranges::copy(*lists[i], context.out(i).mutable_values<int64_t>().begin());
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kUnique{
    .name = "Unique",
    .since = ir::Since(11),
    .results = {1, 4},
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kNotReal,
    .infer = &Infer,
    .definition = &Definition,
    .depends_on_order = true,
};

}  // namespace octavo::ops
