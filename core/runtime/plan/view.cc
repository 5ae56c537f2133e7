// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/view.h"

#include <algorithm>
#include <numeric>

#include "core/runtime/int8/layout.h"
#include "core/runtime/kernels/shared/data_movement.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
namespace {

using ir::Tensor;

// A plan keeps an index per element of a view while it is built.
constexpr int64_t kMaxElements = int64_t{1} << 21;

// Extents and strides, outermost first, that generate the places; nullopt if there are none.  Every
// extent is as large as possible, beginning with the innermost.
std::optional<ops::StridedCopy> StridesOf(const std::vector<int32_t>& places) {
  ops::StridedCopy copy;
  const auto count = static_cast<int64_t>(places.size());
  for (int64_t block = 1; block < count;) {
    const int64_t step = places[block] - places[0];
    int64_t extent = 1;
    while (extent * block < count && places[extent * block] - places[0] == extent * step) ++extent;
    if (count % (block * extent) != 0) return std::nullopt;
    copy.extents.insert(copy.extents.begin(), extent);
    copy.from_strides.insert(copy.from_strides.begin(), step);
    copy.to_strides.insert(copy.to_strides.begin(), block);
    for (int64_t i = block; i < block * extent; ++i) {
      if (places[i] != places[i % block] + i / block * step) return std::nullopt;
    }
    block *= extent;
  }
  // Rows of a few elements are slow.
  const size_t last = copy.extents.size() - 1;
  if (copy.extents.size() > 1 && copy.extents[last] < 8 && copy.from_strides[last] != 1 &&
      copy.extents[last - 1] > copy.extents[last]) {
    std::swap(copy.extents[last], copy.extents[last - 1]);
    std::swap(copy.from_strides[last], copy.from_strides[last - 1]);
    std::swap(copy.to_strides[last], copy.to_strides[last - 1]);
  }
  return copy;
}

}  // namespace

bool IsLazyView(const NodeView& view) {
  const ir::Node& node = view.node;
  const bool is_view = node.op->moves_data >= ir::Movement::kView;
  if (!is_view || node.op->definition == nullptr) return false;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (view.Has(i) && view.constant(i) == nullptr) return false;
  }
  const auto is_moderate = [](const ir::Type& type) {
    return ir::SizeOf(type.dtype) == 1 && type.elements() > 0 && type.elements() <= kMaxElements;
  };
  bool moderate = is_moderate(view.in(0));
  for (size_t i = 0; i < node.results.size(); ++i) {
    moderate = moderate && node.result(i) && is_moderate(view.out(i));
  }
  return moderate && KeepsQuantization(view);
}

Tensor IdentityIndices(const ir::Shape& shape) {
  Tensor indices(ir::DType::kI32, shape);
  const auto values = indices.mutable_values<int32_t>();
  std::iota(values.begin(), values.end(), 0);
  return indices;
}

Result<std::vector<Tensor>> ViewIndices(const NodeView& view, const Tensor& indices,
                                        ThreadPool& pool) {
  std::vector<const Tensor*> inputs = {&indices};
  for (size_t i = 1; i < view.node.inputs.size(); ++i) inputs.push_back(view.constant(i));
  std::vector<Tensor> results;
  for (size_t i = 0; i < view.node.results.size(); ++i) {
    results.emplace_back(ir::DType::kI32, view.out(i).shape);
  }
  OCTAVO_CHECK(view.node.op->definition(
      {.node = view.node, .inputs = inputs, .results = results, .pool = &pool}));
  return results;
}

ViewCopy::ViewCopy(const LazyView& view, const ir::Shape& shape, Layout from, Layout to) {
  const StoredPlaces base(from, shape), own(to, view.indices.shape());
  const auto indices = view.indices.values<int32_t>();
  places_.resize(indices.size());
  for (int64_t i = 0; i < view.indices.size(); ++i) {
    places_[own.Of(i)] = static_cast<int32_t>(base.Of(indices[i]));
  }
  first_ = places_[0];
  if (auto copy = places_.size() > 1 ? StridesOf(places_) : std::nullopt) {
    copy_ = *std::move(copy);
    places_ = {};
  }
}

int64_t ViewCopy::Cost() const {
  if (!places_.empty()) return std::ssize(places_);
  constexpr int64_t kRowCost = 8, kAdjacent = 16;
  const int64_t count = ir::NumElements(copy_.extents), length = copy_.extents.back();
  const bool is_even = copy_.from_strides.back() <= 2 && copy_.to_strides.back() == 1;
  return count / length * kRowCost + (is_even ? count / kAdjacent : count);
}

// Whether the innermost two extents transpose a matrix.
bool ViewCopy::IsTranspose() const {
  const size_t rank = copy_.extents.size();
  return rank >= 2 && copy_.from_strides[rank - 2] == 1 && copy_.to_strides[rank - 1] == 1;
}

void ViewCopy::Transpose(const uint8_t* from, uint8_t* to, ThreadPool& pool) const {
  const auto outer = static_cast<int64_t>(copy_.extents.size()) - 2;
  const int64_t rows = copy_.extents[outer + 1], columns = copy_.extents[outer];
  const int64_t count = ir::NumElements(copy_.extents) / (rows * columns);
  pool.For(count, kRowGrain / (rows * columns) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, source = 0, target = 0;
      for (int64_t axis = outer; axis-- > 0; rest /= copy_.extents[axis]) {
        source += rest % copy_.extents[axis] * copy_.from_strides[axis];
        target += rest % copy_.extents[axis] * copy_.to_strides[axis];
      }
      int8::TransposeBytes(from + source, copy_.from_strides[outer + 1], to + target,
                           copy_.to_strides[outer], rows, columns);
    }
  });
}

void ViewCopy::Run(const std::byte* from, std::byte* to, ThreadPool& pool) const {
  if (IsTranspose()) {
    return Transpose(reinterpret_cast<const uint8_t*>(from) + first_,
                     reinterpret_cast<uint8_t*>(to), pool);
  }
  if (places_.empty()) return ops::Copy(copy_, 1, from + first_, to, &pool);
  pool.For(std::ssize(places_), kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[places_[i]];
  });
}

}  // namespace octavo::runtime
