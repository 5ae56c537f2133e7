// Softmax, LogSoftmax, LayerNormalization and InstanceNormalization between 8-bit types: the float
// definition (sums in double, in order, rounded once) with operands read from a table of the 256
// reals, several rows at a time where one sum would wait for itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "core/base/math.h"
#include "core/ops/data_op.h"
#include "core/runtime/kernel.h"
#include "core/runtime/row_codes.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kSoftmaxOps[] = {"Softmax", "LogSoftmax"};
constexpr std::string_view kLayerOps[] = {"LayerNormalization"};
constexpr std::string_view kInstanceOps[] = {"InstanceNormalization"};

// The real of each stored byte.
using Reals = std::array<double, 256>;

Reals RealsOf(const ir::Type& type) {
  const rows::Codes codes = RowCodes(type);
  Reals reals = {};
  for (int i = 0; i < 256; ++i) {
    const int32_t steps = (i ^ codes.flip) - codes.zero_point;
    reals[i] = double{static_cast<float>(steps) * codes.scale};
  }
  return reals;
}

bool IsPlain(const NodeView& view) {
  return view.node.results.size() == 1 && IsPlain8(view.in(0)) && IsPlain8(view.out()) &&
         view.in(0).elements() > 0;
}

// ------------------------------------------------------------ softmax

// e^(real - greatest real of the row) of each code, made once for each greatest code.
class Exponentials {
 public:
  explicit Exponentials(const Reals& reals) : reals_(reals) {}

  const Reals& For(uint8_t most) {
    std::unique_ptr<Reals>& table = tables_[most];
    if (table == nullptr) {
      table = std::make_unique<Reals>();
      for (int i = 0; i < 256; ++i) {
        // Greater codes are in no row whose greatest is `most`.
        (*table)[i] = reals_[i] <= reals_[most] ? math::Exp(reals_[i] - reals_[most]) : 0;
      }
    }
    return *table;
  }

 private:
  const Reals& reals_;
  std::array<std::unique_ptr<Reals>, 256> tables_ = {};
};

struct SoftmaxState {
  Reals reals = {};
  bool logarithm = false;
  int64_t count = 1, stride = 1;  // of a row
  uint8_t flip = 0;
  rows::Codes result = {};
  const rows::Rows* loops = nullptr;

  void RunRow(const uint8_t* x, Exponentials& exponentials, float* row) const {
    uint8_t most = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto code = static_cast<uint8_t>(x[i * stride] ^ flip);
      most = code > most ? code : most;
    }
    most ^= flip;
    const Reals& powers = exponentials.For(most);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += powers[x[i * stride]];
    if (logarithm) {
      const double shift = reals[most] + math::Log(sum);
      for (int64_t i = 0; i < count; ++i) {
        row[i] = static_cast<float>(reals[x[i * stride]] - shift);
      }
      return;
    }
    for (int64_t i = 0; i < count; ++i) row[i] = static_cast<float>(powers[x[i * stride]] / sum);
  }

  Status Run(const StepContext& context) const {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    const int64_t rows = context.in(0).size() / count;
    context.pool->For(rows, std::max<int64_t>(1, kRowGrain / count),
                      [&](int64_t begin, int64_t end) {
                        Exponentials exponentials(reals);
                        std::vector<float> row(count);
                        std::vector<uint8_t> codes(count);
                        for (int64_t r = begin; r < end; ++r) {
                          const int64_t first = r / stride * stride * count + r % stride;
                          RunRow(x + first, exponentials, row.data());
                          loops->quantize(row.data(), count, result, codes.data());
                          for (int64_t i = 0; i < count; ++i) y[first + i * stride] = codes[i];
                        }
                      });
    return {};
  }
};

bool MatchSoftmax(const NodeView& view) { return IsPlain(view) && !view.in(0).shape.empty(); }

Result<Prepared> PrepareSoftmax(const NodeView& view, ThreadPool&) {
  const ir::Shape& shape = view.in(0).shape;
  const int axis =
      ops::FrontAxis(view.node.attributes.Int("axis", -1), static_cast<int>(shape.size()));
  const auto state = std::make_shared<const SoftmaxState>(
      SoftmaxState{.reals = RealsOf(view.in(0)),
                   .logarithm = view.node.op->name == kSoftmaxOps[1],
                   .count = shape[axis],
                   .stride = ir::StridesOf(shape)[axis],
                   .flip = RowCodes(view.in(0)).flip,
                   .result = RowCodes(view.out()),
                   .loops = &rows::CurrentRows()});
  return Prepared{.run = [state](const StepContext& context) { return state->Run(context); }};
}

// ------------------------------------------------------------ normalizations

constexpr int kTogether = 4;  // rows whose sums run side by side

struct NormalizeState {
  Reals reals = {};
  int64_t size = 1;  // of a row
  double epsilon = 0;
  // The factor and shift of each element of a row, or of each row in turn.
  std::vector<double> scale = {}, shift = {};
  bool by_row = false;
  rows::Codes result = {};
  const rows::Rows* loops = nullptr;

  // Means and inverse deviations of `count` rows that follow each other.
  template <int kCount>
  void Moments(const uint8_t* x, double* means, double* inverses) const {
    double sums[kCount] = {}, squares[kCount] = {};
    for (int64_t i = 0; i < size; ++i) {
      for (int r = 0; r < kCount; ++r) sums[r] += reals[x[r * size + i]];
    }
    for (int r = 0; r < kCount; ++r) means[r] = sums[r] / static_cast<double>(size);
    for (int64_t i = 0; i < size; ++i) {
      for (int r = 0; r < kCount; ++r) {
        const double off = reals[x[r * size + i]] - means[r];
        squares[r] += off * off;
      }
    }
    for (int r = 0; r < kCount; ++r) {
      inverses[r] = 1 / std::sqrt(squares[r] / static_cast<double>(size) + epsilon);
    }
  }

  void Finish(const uint8_t* x, int64_t row, double mean, double inverse, float* to) const {
    if (!by_row) {
      for (int64_t i = 0; i < size; ++i) {
        const double normal = (reals[x[i]] - mean) * inverse;
        to[i] = static_cast<float>(normal * scale[i] + shift[i]);
      }
      return;
    }
    const size_t channel = static_cast<size_t>(row) % scale.size();
    const double factor = scale[channel] * inverse, offset = shift[channel];
    for (int64_t i = 0; i < size; ++i) {
      to[i] = static_cast<float>((reals[x[i]] - mean) * factor + offset);
    }
  }

  Status Run(const StepContext& context) const {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    const int64_t rows = context.in(0).size() / size;
    context.pool->For(rows, std::max<int64_t>(1, kRowGrain / size),
                      [&](int64_t begin, int64_t end) {
                        std::vector<float> reals_of_row(size);
                        double means[kTogether], inverses[kTogether];
                        for (int64_t r = begin; r < end;) {
                          const int64_t count = end - r >= kTogether ? kTogether : 1;
                          if (count == 1) {
                            Moments<1>(x + r * size, means, inverses);
                          } else {
                            Moments<kTogether>(x + r * size, means, inverses);
                          }
                          for (int64_t i = 0; i < count; ++i, ++r) {
                            Finish(x + r * size, r, means[i], inverses[i], reals_of_row.data());
                            loops->quantize(reals_of_row.data(), size, result, y + r * size);
                          }
                        }
                      });
    return {};
  }
};

Prepared Ready(const NodeView& view, NormalizeState state) {
  state.reals = RealsOf(view.in(0));
  state.epsilon = view.node.attributes.Float("epsilon", 1e-5f);
  state.result = RowCodes(view.out());
  state.loops = &rows::CurrentRows();
  const auto shared = std::make_shared<const NormalizeState>(std::move(state));
  return {.run = [shared](const StepContext& context) { return shared->Run(context); }};
}

// A constant float parameter of `count` elements, or absent.
bool IsParameter(const NodeView& view, size_t input, int64_t count) {
  if (!view.Has(input)) return true;
  return view.constant(input) != nullptr && view.in(input).dtype == ir::DType::kF32 &&
         !view.in(input).quantized() && view.in(input).elements() == count;
}

std::vector<double> Parameter(const NodeView& view, size_t input, int64_t count) {
  std::vector<double> values(count, 0);
  for (int64_t i = 0; view.Has(input) && i < count; ++i) {
    values[i] = view.constant(input)->FloatAt(i);
  }
  return values;
}

int64_t LayerSize(const NodeView& view) {
  const ir::Shape& shape = view.in(0).shape;
  const int axis =
      ops::FrontAxis(view.node.attributes.Int("axis", -1), static_cast<int>(shape.size()));
  return ir::NumElements(ir::Shape(shape.begin() + axis, shape.end()));
}

bool MatchLayer(const NodeView& view) {
  return IsPlain(view) && IsParameter(view, 1, LayerSize(view)) &&
         IsParameter(view, 2, LayerSize(view));
}

Result<Prepared> PrepareLayer(const NodeView& view, ThreadPool&) {
  const int64_t size = LayerSize(view);
  return Ready(
      view, {.size = size, .scale = Parameter(view, 1, size), .shift = Parameter(view, 2, size)});
}

bool MatchInstance(const NodeView& view) {
  if (!IsPlain(view)) return false;
  const int64_t channels = view.in(0).shape[1];
  return view.Has(2) && IsParameter(view, 1, channels) && IsParameter(view, 2, channels);
}

Result<Prepared> PrepareInstance(const NodeView& view, ThreadPool&) {
  const ir::Shape& shape = view.in(0).shape;
  return Ready(view, {.size = ir::StridesOf(shape)[1],
                      .scale = Parameter(view, 1, shape[1]),
                      .shift = Parameter(view, 2, shape[1]),
                      .by_row = true});
}

}  // namespace

extern constexpr Kernel kRowsSoftmax{.name = "rows-softmax",
                                     .ops = kSoftmaxOps,
                                     .match = &MatchSoftmax,
                                     .prepare = &PrepareSoftmax,
                                     .isa = &CurrentIsaName};

extern constexpr Kernel kRowsLayerNormalization{.name = "rows-layer-normalization",
                                                .ops = kLayerOps,
                                                .match = &MatchLayer,
                                                .prepare = &PrepareLayer,
                                                .isa = &CurrentIsaName};

extern constexpr Kernel kRowsInstanceNormalization{.name = "rows-instance-normalization",
                                                   .ops = kInstanceOps,
                                                   .match = &MatchInstance,
                                                   .prepare = &PrepareInstance,
                                                   .isa = &CurrentIsaName};

}  // namespace octavo::runtime
