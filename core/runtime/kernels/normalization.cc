// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, LayerNormalization, RMSNormalization and InstanceNormalization between 8-bit
// types by the float definition: sums are in double in the definition's order and rounded once.
// Exponentials come from tables of 256 entries.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>

#include "core/base/math.h"
#include "core/ops/shared/data_op.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kSoftmaxOps[] = {"Softmax", "LogSoftmax"};
constexpr std::string_view kLayerOps[] = {"LayerNormalization"};
constexpr std::string_view kRmsOps[] = {"RMSNormalization"};
constexpr std::string_view kInstanceOps[] = {"InstanceNormalization"};

// Grain size of a softmax: minimum elements per task.
constexpr int64_t kSoftmaxGrain = 4 << 10;

using simd::kRowsTogether;

bool IsPlain(const NodeView& view) {
  return view.node.results.size() == 1 && IsPlain8(view.in(0)) && IsPlain8(view.out()) &&
         view.in(0).elements() > 0;
}

// ------------------------------------------------------------ softmax

// e^(x - max) of all 256 values x.  The first thread that needs a maximum computes its table; there
// is one table per maximum.
class Exponentials {
 public:
  explicit Exponentials(const RealTable& real) : real_(real) {}
  ~Exponentials() {
    for (const auto& table : tables_) delete table.load();
  }

  const double* For(uint8_t most) const {
    const RealTable* table = tables_[most].load(std::memory_order_acquire);
    return (table == nullptr ? Make(most) : table)->data();
  }

 private:
  const RealTable* Make(uint8_t most) const {
    auto made = std::make_unique<RealTable>();
    for (int i = 0; i < 256; ++i) {
      // A row with maximum `most` contains nothing greater.
      (*made)[i] = real_[i] <= real_[most] ? math::Exp(real_[i] - real_[most]) : 0;
    }
    const RealTable* before = nullptr;
    if (!tables_[most].compare_exchange_strong(before, made.get())) return before;
    return made.release();
  }

  const RealTable& real_;
  mutable std::array<std::atomic<const RealTable*>, 256> tables_ = {};
};

struct SoftmaxState {
  RealTable real = {};
  bool logarithm = false;
  int64_t count = 1, stride = 1;  // of a row
  uint8_t flip = 0;
  simd::Quant result = {};
  const simd::Kernels* loops = nullptr;
  Exponentials exponentials{real};

  // Computes up to kRowsTogether adjacent dense rows; `kept` receives their floats.
  void RunRows(const uint8_t* x, int64_t rows, double* kept, uint8_t* y) const {
    const double* powers[kRowsTogether];
    uint8_t most[kRowsTogether];
    double sums[kRowsTogether] = {};
    for (int64_t r = 0; r < rows; ++r) {
      most[r] = loops->max_of(x + r * count, count, flip) ^ flip;
      powers[r] = exponentials.For(most[r]);
    }
    if (rows == kRowsTogether) {
      loops->sum_rows(x, count, powers, kept, sums);
    } else {
      for (int64_t i = 0; i < rows * count; ++i) {
        kept[i] = powers[i / count][x[i]];
        sums[i / count] += kept[i];
      }
    }
    for (int64_t r = 0; r < rows; ++r, x += count, y += count, kept += count) {
      if (logarithm) {
        RunLogarithm(x, real[most[r]] + math::Log(sums[r]), y);
      } else {
        Divide(x, kept, powers[r], sums[r], y);
      }
    }
  }

  // Long rows divide the exponentials of all 256 values, short rows those of their elements.
  void Divide(const uint8_t* x, const double* own, const double* powers, double sum,
              uint8_t* y) const {
    if (count <= kShortRow) return loops->quantize_quotients(own, count, sum, result, y);
    uint8_t table[256];
    loops->quantize_quotients(powers, 256, sum, result, table);
    loops->look_up(x, count, table, y);
  }

  void RunLogarithm(const uint8_t* x, double shift, uint8_t* y) const {
    std::vector<float> row(count);
    for (int64_t i = 0; i < count; ++i) row[i] = static_cast<float>(real[x[i]] - shift);
    loops->quantize(row.data(), count, result, y);
  }

  // Computes row r of strided elements.
  void RunStrided(const uint8_t* x, int64_t r, uint8_t* y, uint8_t* dense, double* kept) const {
    const int64_t first = r / stride * stride * count + r % stride;
    for (int64_t i = 0; i < count; ++i) dense[i] = x[first + i * stride];
    RunRows(dense, 1, kept, dense + count);
    for (int64_t i = 0; i < count; ++i) y[first + i * stride] = dense[count + i];
  }

  Status Run(const StepContext& context) const {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    const int64_t rows = context.in(0).size() / count;
    const int64_t grain = std::max<int64_t>(1, kSoftmaxGrain / count);
    context.pool->For(rows, grain, [&](int64_t begin, int64_t end) {
      std::vector<double> kept(kRowsTogether * count);
      if (stride > 1) {
        std::vector<uint8_t> dense(2 * count);
        for (int64_t r = begin; r < end; ++r) RunStrided(x, r, y, dense.data(), kept.data());
        return;
      }
      for (int64_t r = begin; r < end; r += kRowsTogether) {
        RunRows(x + r * count, std::min<int64_t>(kRowsTogether, end - r), kept.data(),
                y + r * count);
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
  const auto state = std::make_shared<SoftmaxState>();
  state->real = RealTableOf(view.in(0));
  state->logarithm = view.node.op->name == kSoftmaxOps[1];
  state->count = shape[axis];
  state->stride = ir::StridesOf(shape)[axis];
  state->flip = SimdQuant(view.in(0)).flip;
  state->result = SimdQuant(view.out());
  state->loops = &simd::CurrentKernels();
  return Prepared{.run = [state = std::shared_ptr<const SoftmaxState>(state)](
                             const StepContext& context) { return state->Run(context); }};
}

// ------------------------------------------------------------ normalizations

struct NormalizeState {
  int64_t size = 1;  // of a row
  // Factor and shift per element of a row, or per row.
  std::vector<double> scale = {}, shift = {};
  bool by_row = false;
  bool centered = true;  // false: the mean is 0
  double epsilon = 0;
  simd::Quant from = {}, to = {};
  const simd::Kernels* loops = nullptr;

  simd::Moments MomentsOf(const uint8_t* x) const {
    if (centered) return loops->moments(x, size, from, epsilon);
    const double squares = loops->sum_of_squares(x, size, from);
    return {0, 1 / std::sqrt(squares / static_cast<double>(size) + epsilon)};
  }

  void RunRow(const uint8_t* x, int64_t row, uint8_t* y) const {
    const simd::Moments moments = MomentsOf(x);
    simd::NormalizeCall call{
        .x = x, .y = y, .count = size, .x_quant = from, .y_quant = to, .mean = moments.mean};
    if (by_row) {
      const size_t channel = static_cast<size_t>(row) % scale.size();
      call.factor = scale[channel] * moments.inverse_deviation;
      call.offset = shift[channel];
    } else {
      call.factor = moments.inverse_deviation;
      call.scale = scale.data();
      call.shift = shift.data();
    }
    loops->normalize(call);
  }

  Status Run(const StepContext& context) const {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    const int64_t rows = context.in(0).size() / size;
    const int64_t grain = std::max<int64_t>(1, kRowGrain / size);
    context.pool->For(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) RunRow(x + r * size, r, y + r * size);
    });
    return {};
  }
};

Prepared Ready(const NodeView& view, NormalizeState state) {
  state.epsilon = view.node.attributes.Float("epsilon", 1e-5f);
  state.from = SimdQuant(view.in(0));
  state.to = SimdQuant(view.out());
  state.loops = &simd::CurrentKernels();
  const auto shared = std::make_shared<const NormalizeState>(std::move(state));
  return {.run = [shared](const StepContext& context) { return shared->Run(context); }};
}

// Whether the parameter is absent or a constant float of `count` elements.
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

bool MatchRms(const NodeView& view) {
  return IsPlain(view) && IsParameter(view, 1, LayerSize(view));
}

Result<Prepared> PrepareRms(const NodeView& view, ThreadPool&) {
  const int64_t size = LayerSize(view);
  return Ready(view, {.size = size,
                      .scale = Parameter(view, 1, size),
                      .shift = std::vector<double>(size, 0),
                      .centered = false});
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

extern constexpr Kernel kSimdSoftmax{.name = "simd-softmax",
                                     .ops = kSoftmaxOps,
                                     .match = &MatchSoftmax,
                                     .prepare = &PrepareSoftmax,
                                     .isa = &CurrentIsaName};

extern constexpr Kernel kSimdLayerNormalization{.name = "simd-layer-normalization",
                                                .ops = kLayerOps,
                                                .match = &MatchLayer,
                                                .prepare = &PrepareLayer,
                                                .isa = &CurrentIsaName};

extern constexpr Kernel kSimdRmsNormalization{.name = "simd-rms-normalization",
                                              .ops = kRmsOps,
                                              .match = &MatchRms,
                                              .prepare = &PrepareRms,
                                              .isa = &CurrentIsaName};

extern constexpr Kernel kSimdInstanceNormalization{.name = "simd-instance-normalization",
                                                   .ops = kInstanceOps,
                                                   .match = &MatchInstance,
                                                   .prepare = &PrepareInstance,
                                                   .isa = &CurrentIsaName};

}  // namespace octavo::runtime
