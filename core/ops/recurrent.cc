#include "core/ops/recurrent.h"

#include <algorithm>
#include <cmath>

#include "core/base/math.h"

namespace octavo::ops {
namespace {

struct ActivationRow {
  std::string_view name;
  bool has_alpha = false, has_beta = false;
  double alpha = 0, beta = 0;  // where the node gives none
  double (*function)(double x, double alpha, double beta) = nullptr;
};

constexpr ActivationRow kActivations[] = {
    {"Relu", false, false, 0, 0, [](double x, double, double) { return std::max(x, 0.0); }},
    {"Tanh", false, false, 0, 0, [](double x, double, double) { return math::Tanh(x); }},
    {"Sigmoid", false, false, 0, 0, [](double x, double, double) { return math::Sigmoid(x); }},
    {"Softsign", false, false, 0, 0,
     [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"Softplus", false, false, 0, 0,
     [](double x, double, double) {
       return math::Log1p(math::Exp(-std::abs(x))) + std::max(x, 0.0);
     }},
    {"LeakyRelu", true, false, 0.01, 0,
     [](double x, double alpha, double) { return x < 0 ? alpha * x : x; }},
    {"ThresholdedRelu", true, false, 1, 0,
     [](double x, double alpha, double) { return x > alpha ? x : 0.0; }},
    {"Elu", true, false, 1, 0,
     [](double x, double alpha, double) { return x < 0 ? alpha * math::Expm1(x) : x; }},
    {"Affine", true, true, 1, 0,
     [](double x, double alpha, double beta) { return alpha * x + beta; }},
    {"ScaledTanh", true, true, 1, 1,
     [](double x, double alpha, double beta) { return alpha * math::Tanh(beta * x); }},
    {"HardSigmoid", true, true, 0.2, 0.5,
     [](double x, double alpha, double beta) { return std::clamp(alpha * x + beta, 0.0, 1.0); }},
};

// Activations of all directions; "" or the name that is unknown.
std::string ActivationsOf(const ir::Node& node, const RecurrentKind& kind, int64_t directions,
                          std::vector<Activation>& activations) {
  std::vector<std::string> names;
  if (const auto at = std::ranges::find(node.attributes, "activations",
                                        [](const auto& entry) { return entry.first; });
      at != node.attributes.end()) {
    names = std::get<std::vector<std::string>>(at->second);
  }
  while (names.size() < kind.activations.size() * static_cast<size_t>(directions)) {
    names.push_back(kind.activations[names.size() % kind.activations.size()]);
  }
  const std::vector<float> alphas = node.attributes.Floats("activation_alpha");
  const std::vector<float> betas = node.attributes.Floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  for (const std::string& name : names) {
    const auto row = std::ranges::find(kActivations, name, &ActivationRow::name);
    if (row == std::end(kActivations)) return name;
    double alpha = row->alpha, beta = row->beta;
    if (row->has_alpha && next_alpha < alphas.size()) alpha = alphas[next_alpha++];
    if (row->has_beta && next_beta < betas.size()) beta = betas[next_beta++];
    activations.push_back([=](double x) { return row->function(x, alpha, beta); });
  }
  return {};
}

struct Extents {
  int64_t time = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false;

  // Where [t, b] of x, and [t, d, b] of y, begin.
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
  const int64_t rows = gates * extents.hidden;
  RecurrentCell cell{.inputs = extents.inputs, .hidden = extents.hidden};
  cell.w = Part(context.in(kW), d * rows * cell.inputs, rows * cell.inputs);
  cell.r = Part(context.in(kR), d * rows * cell.hidden, rows * cell.hidden);
  cell.w_bias.assign(rows, 0);
  cell.r_bias.assign(rows, 0);
  if (context.Has(kB)) {
    cell.w_bias = Part(context.in(kB), d * 2 * rows, rows);
    cell.r_bias = Part(context.in(kB), (d * 2 + 1) * rows, rows);
  }
  if (context.Has(kPeepholes)) {
    cell.peepholes = Part(context.in(kPeepholes), d * 3 * cell.hidden, 3 * cell.hidden);
  }
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

double RecurrentCell::Input(int64_t row, const double* x) const {
  double sum = w_bias[row];
  for (int64_t i = 0; i < inputs; ++i) sum += w[row * inputs + i] * x[i];
  return sum;
}

double RecurrentCell::Recurrent(int64_t row, const double* h) const {
  double sum = r_bias[row];
  for (int64_t i = 0; i < hidden; ++i) sum += r[row * hidden + i] * h[i];
  return sum;
}

double RecurrentCell::Activate(size_t which, double x) const {
  return activations[which](clip > 0 ? std::clamp(x, -clip, clip) : x);
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
  std::vector<Activation> activations;
  if (const std::string name = ActivationsOf(node, kind, d, activations); !name.empty()) {
    return context.Unsupported("activation '{}' is not supported", name).Field("activations");
  }
  const ir::Shape all = extents.batch_first
                            ? ir::Shape{extents.batch, extents.time, d, extents.hidden}
                            : ir::Shape{extents.time, d, extents.batch, extents.hidden};
  for (size_t i = 0; i < context.result_count(); ++i) {
    context.SetResult(i, context.dtype(kX), i == 0 ? all : state);
  }
  return {};
}

Status RunRecurrent(const ir::EvalContext& context, const RecurrentKind& kind, RecurrentStep step) {
  const ir::Tensor& x = context.in(kX);
  const Extents extents = ExtentsOf(context.node, x.shape(), context.in(kR).shape());
  std::vector<Activation> activations;
  ActivationsOf(context.node, kind, extents.directions, activations);
  const std::string direction = context.node.attributes.String("direction", "forward");
  for (int64_t d = 0; d < extents.directions; ++d) {
    RecurrentCell cell = CellOf(context, extents, kind.gates, d);
    const auto first = static_cast<ptrdiff_t>(kind.activations.size()) * d;
    cell.activations.assign(activations.begin() + first, activations.end());
    const bool reverse = direction == "reverse" || d == 1;
    for (int64_t b = 0; b < extents.batch; ++b) {
      const int64_t length = context.Has(kLengths) ? context.in(kLengths).IntAt(b) : extents.time;
      if (length < 0 || length > extents.time) {
        return BadData(context, "length {} is outside of {} places", length, extents.time);
      }
      const int64_t at = extents.State(d, b);
      std::vector<double> h(extents.hidden, 0), c(extents.hidden, 0);
      if (context.Has(kInitialH)) h = Part(context.in(kInitialH), at, extents.hidden);
      if (context.Has(kInitialC)) c = Part(context.in(kInitialC), at, extents.hidden);
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = reverse ? length - 1 - i : i;
        const std::vector<double> place = Part(x, extents.X(t, b), extents.inputs);
        step(cell, context.node, place.data(), h, c);
        Store(h, context.out(0), extents.Y(t, d, b));
      }
      if (context.results.size() > 1) Store(h, context.out(1), at);
      if (context.results.size() > 2) Store(c, context.out(2), at);
    }
  }
  return {};
}

}  // namespace octavo::ops
