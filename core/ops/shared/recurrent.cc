// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/recurrent.h"

#include <algorithm>
#include <cmath>

#include "core/base/math.h"

namespace octavo::ops {
namespace {

struct Extents {
  int64_t time = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false;

  // The offsets of [t, b] in x and of [t, d, b] in y.
  int64_t X(int64_t t, int64_t b) const {
    return (batch_first ? b * time + t : t * batch + b) * inputs;
  }
  int64_t Y(int64_t t, int64_t d, int64_t b) const {
    return (batch_first ? (b * time + t) * directions + d : (t * directions + d) * batch + b) *
           hidden;
  }
  int64_t State(int64_t d, int64_t b) const {
    return (batch_first ? b * directions + d : d * batch + b) * hidden;
  }
};

Extents ExtentsOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& r) {
  const bool batch_first = node.attributes.Int("layout", 0) != 0;
  const bool both = node.attributes.String("direction", "forward") == "bidirectional";
  return {.time = x[batch_first ? 1 : 0],
          .batch = x[batch_first ? 0 : 1],
          .inputs = x[2],
          .hidden = r[2],
          .directions = both ? 2 : 1,
          .batch_first = batch_first};
}

std::vector<double> Part(const ir::Tensor& tensor, int64_t first, int64_t count) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = tensor.FloatAt(first + i);
  return values;
}

RecurrentCell CellOf(const ir::EvalContext& context, const Extents& extents, int64_t gates,
                     int64_t d) {
  const int64_t n = extents.hidden, rows = gates * n;
  RecurrentCell cell{.hidden = n,
                     .w = {context.in(kW), d * rows * extents.inputs, gates, n, extents.inputs},
                     .r = {context.in(kR), d * rows * n, gates, n, n},
                     .w_bias = std::vector<double>(rows, 0),
                     .r_bias = std::vector<double>(rows, 0)};
  if (context.Has(kB)) {
    cell.w_bias = Part(context.in(kB), d * 2 * rows, rows);
    cell.r_bias = Part(context.in(kB), (d * 2 + 1) * rows, rows);
  }
  if (context.Has(kPeepholes)) cell.peepholes = Part(context.in(kPeepholes), d * 3 * n, 3 * n);
  cell.clip = context.node.attributes.Float("clip", 0);
  return cell;
}

void Store(const std::vector<double>& values, ir::Tensor& to, int64_t first) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (to.dtype() == ir::DType::kF64) {
      to.mutable_values<double>()[first + static_cast<int64_t>(i)] = values[i];
    } else {
      to.mutable_values<float>()[first + static_cast<int64_t>(i)] = static_cast<float>(values[i]);
    }
  }
}

}  // namespace

void RecurrentCell::Recurrent(int64_t gate, const std::vector<double>& h,
                              std::vector<double>& result) const {
  result.resize(static_cast<size_t>(hidden));
  r.Multiply(gate, h.data(), &r_bias[gate * hidden], result.data());
}

void RecurrentCell::Activate(size_t which, std::vector<double>& values) const {
  if (clip > 0) {
    for (double& x : values) x = std::clamp(x, -clip, clip);
  }
  activations[which](values);
}

Status InferRecurrent(ir::InferContext& context, const RecurrentKind& kind) {
  const ir::Node& node = context.node();
  const ir::Shape &x = context.shape(kX), &w = context.shape(kW), &r = context.shape(kR);
  if (!ir::IsFloat(context.dtype(kX)) || x.size() != 3 || w.size() != 3 || r.size() != 3) {
    return context.Invalid("x, w and r must be float tensors of 3 axes");
  }
  const std::string direction = node.attributes.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return context.Invalid("direction '{}' is unknown", direction).Field("direction");
  }
  const Extents extents = ExtentsOf(node, x, r);
  const int64_t rows = kind.gates * extents.hidden, d = extents.directions;
  const ir::Shape state = extents.batch_first ? ir::Shape{extents.batch, d, extents.hidden}
                                              : ir::Shape{d, extents.batch, extents.hidden};
  const std::pair<RecurrentInput, ir::Shape> expected[] = {{kW, {d, rows, extents.inputs}},
                                                           {kR, {d, rows, extents.hidden}},
                                                           {kB, {d, 2 * rows}},
                                                           {kLengths, {extents.batch}},
                                                           {kInitialH, state},
                                                           {kInitialC, state},
                                                           {kPeepholes, {d, 3 * extents.hidden}}};
  for (const auto& [input, shape] : expected) {
    if (!context.Has(input) || context.shape(input) == shape) continue;
    return context.Invalid("input {} has shape {}, but must have {}", static_cast<int>(input),
                           ir::ToString(context.shape(input)), ir::ToString(shape));
  }
  if (const auto named = RecurrentActivations(node, kind.activations, d); !named) {
    return context.Unsupported("activation '{}' is not supported", named.error())
        .Field("activations");
  }
  const ir::Shape all = extents.batch_first
                            ? ir::Shape{extents.batch, extents.time, d, extents.hidden}
                            : ir::Shape{extents.time, d, extents.batch, extents.hidden};
  for (size_t i = 0; i < context.result_count(); ++i) {
    context.SetResult(i, context.dtype(kX), i == 0 ? all : state);
  }
  return {};
}

namespace {

// One sequence in one direction.
struct Sequence {
  const ir::EvalContext& context;
  const Extents& extents;
  const RecurrentCell& cell;
  int64_t gates = 1, d = 0, b = 0, length = 0;
  bool reverse = false;

  int64_t PlaceOf(int64_t step) const { return reverse ? length - 1 - step : step; }

  // W x + Wb of all time positions, in the order of the steps.
  std::vector<double> Inputs() const {
    const int64_t n = cell.hidden;
    std::vector<double> all(length * gates * n), x;
    for (int64_t i = 0; i < length; ++i) {
      x = Part(context.in(kX), extents.X(PlaceOf(i), b), extents.inputs);
      for (int64_t gate = 0; gate < gates; ++gate) {
        cell.w.Multiply(gate, x.data(), &cell.w_bias[gate * n], &all[(i * gates + gate) * n]);
      }
    }
    return all;
  }

  void Run(RecurrentStep step) const {
    const int64_t at = extents.State(d, b), n = cell.hidden;
    std::vector<double> h(n, 0), c(n, 0);
    if (context.Has(kInitialH)) h = Part(context.in(kInitialH), at, n);
    if (context.Has(kInitialC)) c = Part(context.in(kInitialC), at, n);
    const std::vector<double> inputs = Inputs();
    for (int64_t i = 0; i < length; ++i) {
      step(cell, context.node, inputs.data() + i * gates * n, h, c);
      Store(h, context.out(0), extents.Y(PlaceOf(i), d, b));
    }
    if (context.results.size() > 1) Store(h, context.out(1), at);
    if (context.results.size() > 2) Store(c, context.out(2), at);
  }
};

Result<std::vector<int64_t>> LengthsOf(const ir::EvalContext& context, const Extents& extents) {
  std::vector<int64_t> lengths(extents.batch, extents.time);
  for (int64_t b = 0; context.Has(kLengths) && b < extents.batch; ++b) {
    lengths[b] = context.in(kLengths).IntAt(b);
    if (lengths[b] < 0 || lengths[b] > extents.time) {
      return BadData(context, "length {} is outside of {} places", lengths[b], extents.time);
    }
  }
  return lengths;
}

}  // namespace

Status RunRecurrent(const ir::EvalContext& context, const RecurrentKind& kind, RecurrentStep step) {
  const Extents extents = ExtentsOf(context.node, context.in(kX).shape(), context.in(kR).shape());
  const auto activations = RecurrentActivations(context.node, kind.activations, extents.directions);
  const std::string direction = context.node.attributes.String("direction", "forward");
  OCTAVO_TRY(const std::vector<int64_t> lengths, LengthsOf(context, extents));
  std::vector<RecurrentCell> cells;
  for (int64_t d = 0; d < extents.directions; ++d) {
    cells.push_back(CellOf(context, extents, kind.gates, d));
    const auto first = activations->begin() + static_cast<ptrdiff_t>(kind.activations.size()) * d;
    cells.back().activations.assign(first, first + static_cast<ptrdiff_t>(kind.activations.size()));
  }
  context.pool->For(extents.directions * extents.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t d = i / extents.batch, b = i % extents.batch;
      Sequence{.context = context,
               .extents = extents,
               .cell = cells[d],
               .gates = kind.gates,
               .d = d,
               .b = b,
               .length = lengths[b],
               .reverse = direction == "reverse" || d == 1}
          .Run(step);
    }
  });
  return {};
}

}  // namespace octavo::ops
