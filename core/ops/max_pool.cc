// SPDX-License-Identifier: Apache-2.0
// MaxPool(x): the largest element of each window, or NaN if the window contains one; optionally
// also its index (Indices).
//
// This file shows the usual order of an op's file: head comment, attributes, inference, definition,
// rules, one row.
#include <limits>

#include "core/ops/shared/window.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const Window window, WindowOf(context.node(), context.shape(0)));
  ir::Shape shape = {context.shape(0)[0], context.shape(0)[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  context.SetResult(0, context.dtype(0), shape);
  if (context.result_count() > 1) {
    context.SetResult(1, ir::DType::kI64, shape);
  }
  return {};
}

// The index that Indices reports for each element of a plane, by storage_order: 0 row-major, 1
// column-major.
std::vector<int64_t> Places(const Window& window, const ir::Node& node) {
  std::vector<int64_t> places(ir::NumElements(window.in));
  const bool columns = node.attributes.Int("storage_order", 0) != 0;
  for (size_t i = 0; i < places.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    places[i] = rest;
    if (!columns) continue;
    places[i] = 0;
    int64_t stride = places.size();
    for (size_t d = window.axes(); d-- > 0;) {
      stride /= window.in[d];
      places[i] += rest % window.in[d] * stride;
      rest /= window.in[d];
    }
  }
  return places;
}

// NaN counts as greater than all numbers.
template <class T>
T Greater(T x, T best) {
  return x > best || x != x ? x : best;
}

template <class T>
void PoolPlane(const Window& window, const T* from, T* to) {
  ForEachTapRow(window, [&](const TapRow& row) {
    T* best = to + row.position;
    const T* x = from + row.offset;
    if (row.step == 1) {
      for (int64_t i = 0; i < row.count; ++i) best[i] = Greater(x[i], best[i]);
      return;
    }
    for (int64_t i = 0; i < row.count; ++i) {
      best[i] = Greater(x[i * row.step], best[i]);
    }
  });
}

template <class T>
void PoolWithIndices(const Window& window, const std::vector<int64_t>& places, const T* from,
                     int64_t first_index, T* to, int64_t* indices) {
  ForEachTap(window, 0, window.positions(), [&](int64_t position, int64_t, int64_t offset) {
    if (offset < 0) return;
    const bool first = indices[position] == 0 && to[position] == std::numeric_limits<T>::lowest();
    const T x = from[offset];
    if (!(x > to[position]) && x == x && !first) return;
    to[position] = x;
    indices[position] = first_index + places[offset];
  });
}

template <class T>
void Pool(const Window& window, const ir::EvalContext& context) {
  const int64_t in_size = ir::NumElements(window.in);
  const int64_t out_size = window.positions();
  const int64_t planes = context.in(0).shape()[0] * context.in(0).shape()[1];
  const T* elements = context.in(0).values<T>().data();
  T* y = context.out().mutable_values<T>().data();
  const std::vector<int64_t> places = Places(window, context.node);
  int64_t* indices =
      context.results.size() > 1 ? context.out(1).mutable_values<int64_t>().data() : nullptr;
  context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* from = elements + plane * in_size;
      T* to = y + plane * out_size;
      std::fill(to, to + out_size, std::numeric_limits<T>::lowest());
      if (indices) {
        PoolWithIndices(window, places, from, plane * in_size, to, indices + plane * out_size);
      } else {
        PoolPlane(window, from, to);
      }
    }
  });
}

Status Definition(const ir::EvalContext& context) {
  OCTAVO_TRY(const Window window, WindowOf(context.node, context.in(0).shape()));
  VisitDType(context.in(0).dtype(), [&]<class T>(T) { Pool<T>(window, context); });
  return {};
}

// A Rescale may make elements equal and thereby change the index; a window entirely in the padding
// has no element to rescale.
std::string WhyNot(const ir::Graph& graph, const ir::Node& node, const ir::Type&, const ir::Type&) {
  if (node.results.size() > 1) return "its indices result may change where rounding makes ties";
  const auto window = WindowOf(node, graph.type(node.input(0)).shape);
  if (!window) return window.error().message;
  for (size_t d = 0; d < window->axes(); ++d) {
    const int64_t extent = (window->kernel[d] - 1) * window->dilations[d] + 1;
    const int64_t last = (window->out[d] - 1) * window->strides[d] - window->pads_begin[d];
    if (window->pads_begin[d] >= extent || last >= window->in[d]) {
      return "a window lies wholly in the padding";
    }
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kMaxPool{
    .name = "MaxPool",
    .since = ir::Since(1),
    .results = {1, 2},
    .attributes = kWindowAttributes,
    .quant = kSameScale,
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSink,
                .at_output = ir::RescaleRule::AtOutput::kHoist,
                .why_not = &WhyNot},
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kSelect,
    .depends_on_order = true,
    .identity_of = &FirstIfWindowOfOne,
};

}  // namespace octavo::ops
