// SPDX-License-Identifier: Apache-2.0
// Nearest-neighbour Resize and Pad as copies of runs of stored integers, in either layout.
// Preparation finds the runs by applying the op's definition to element indices.
#include <cstring>

#include "core/ops/quantize_math.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/data_movement.h"
#include "core/runtime/kernels/shared/quant_params.h"
#include "core/runtime/plan/view.h"

namespace octavo::runtime {
namespace {

using ir::Tensor;

constexpr std::string_view kResizeOps[] = {"Resize"};
constexpr std::string_view kPadOps[] = {"Pad"};
constexpr int64_t kFill = -1;
// Indices are int32.
constexpr int64_t kMaxElements = int64_t{1} << 24;

// y[to, to + count) = x[from, from + count), or padding.
struct Run {
  int64_t from = 0, to = 0, count = 0;
};

// For each element of the result the index of the operand's element that it copies, in plain
// layout; kFill for padding.
Result<Tensor> ShownNumbers(const NodeView& view, bool fills, ThreadPool& pool) {
  const Tensor numbers = IdentityIndices(view.in(0).shape);
  const Tensor fill = Tensor::Scalar<int32_t>(kFill);
  std::vector<const Tensor*> inputs = {&numbers};
  for (size_t i = 1; i < view.node.inputs.size(); ++i) inputs.push_back(view.constant(i));
  if (fills) {
    inputs.resize(std::max<size_t>(inputs.size(), 3));
    inputs[2] = &fill;
  }
  std::vector<Tensor> results = {Tensor(ir::DType::kI32, view.out().shape)};
  OCTAVO_CHECK(view.node.op->definition(
      {.node = view.node, .inputs = inputs, .results = results, .pool = &pool}));
  return std::move(results[0]);
}

std::vector<Run> RunsOf(const NodeView& view, const Tensor& numbers) {
  const StoredPlaces from(view.layout, view.in(0).shape), to(view.layout, view.out().shape);
  std::vector<int64_t> sources(static_cast<size_t>(numbers.size()));
  for (int64_t i = 0; i < numbers.size(); ++i) {
    const int64_t number = numbers.values<int32_t>()[i];
    sources[to.Of(i)] = number == kFill ? kFill : from.Of(number);
  }
  std::vector<Run> runs;
  for (int64_t i = 0; i < numbers.size(); ++i) {
    const int64_t source = sources[i];
    const bool goes_on =
        !runs.empty() && (source == kFill ? runs.back().from == kFill
                                          : runs.back().from != kFill &&
                                                source == runs.back().from + runs.back().count);
    if (goes_on) {
      ++runs.back().count;
    } else {
      runs.push_back({source, i, 1});
    }
  }
  return runs;
}

// `fill` is the stored byte of padding, if the op pads.
Result<Prepared> PrepareRuns(const NodeView& view, ThreadPool& pool, std::optional<uint8_t> fill) {
  OCTAVO_TRY(const Tensor numbers, ShownNumbers(view, fill.has_value(), pool));
  const auto runs = std::make_shared<const std::vector<Run>>(RunsOf(view, numbers));
  const auto count = static_cast<int64_t>(runs->size());
  const int64_t grain =
      std::max<int64_t>(1, kRowGrain / std::max<int64_t>(1, view.out().elements() / count));
  return Prepared{.run = [=](const StepContext& context) -> Status {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    context.pool->For(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Run& run = (*runs)[i];
        if (run.from == kFill) {
          std::memset(y + run.to, *fill, static_cast<size_t>(run.count));
        } else {
          std::memcpy(y + run.to, x + run.from, static_cast<size_t>(run.count));
        }
      }
    });
    return {};
  }};
}

bool MatchRuns(const NodeView& view) {
  if (!IsPlain8(view.in(0)) || !KeepsQuantization(view) || view.in(0).shape.size() < 3) {
    return false;
  }
  for (size_t i = 1; i < view.node.inputs.size(); ++i) {
    if (view.Has(i) && view.constant(i) == nullptr) return false;
  }
  return view.in(0).elements() < kMaxElements && view.out().elements() < kMaxElements &&
         view.out().elements() > 0;
}

bool MatchPad(const NodeView& view) {
  const Tensor* value = view.constant(2);
  const bool exact = !view.Has(2) || (value != nullptr && value->FloatAt(0) == 0);
  return MatchRuns(view) && (exact || view.numerics->qlinear);
}

Result<Prepared> PreparePad(const NodeView& view, ThreadPool& pool) {
  return PrepareRuns(view, pool, *reinterpret_cast<const uint8_t*>(QuantizedPadValue(view).raw()));
}

Result<Prepared> PrepareResize(const NodeView& view, ThreadPool& pool) {
  return PrepareRuns(view, pool, std::nullopt);
}

}  // namespace

extern constexpr Kernel kRunsResize{.name = "resize-runs",
                                    .ops = kResizeOps,
                                    .layout = LayoutRule::kEither,
                                    .modes = Modes::kAll,
                                    .images = 1,
                                    .match = &MatchRuns,
                                    .prepare = &PrepareResize};

extern constexpr Kernel kRunsPad{.name = "pad-runs",
                                 .ops = kPadOps,
                                 .layout = LayoutRule::kEither,
                                 .modes = Modes::kAll,
                                 .images = 1,
                                 .match = &MatchPad,
                                 .prepare = &PreparePad};

}  // namespace octavo::runtime
