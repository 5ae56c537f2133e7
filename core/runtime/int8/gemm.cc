// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/gemm.h"

#include <vector>

#include "core/runtime/int8/check.h"
#include "core/runtime/int8/dense.h"

namespace octavo::runtime::int8 {
namespace {

using internal::DenseRun;
using internal::DenseSource;
using internal::DenseWeights;

DenseSource SourceOf(const Weights& weights, Layout layout, int64_t n, int64_t k) {
  const bool by_row = layout == Layout::kKn;
  return {.weights = weights,
          .n = n,
          .k_runs = 1,
          .k_run = k,
          .k_stride = by_row ? n : 1,
          .n_stride = by_row ? 1 : k};
}

DenseRun RunOf(const DenseWeights& weights, int64_t m, void* out) {
  return {.groups = {&weights, 1}, .rows = m, .out = out, .out_stride = weights.n};
}

void RunProduct(DenseRun run, const void* a, Storage storage, ThreadPool& pool) {
  internal::SetRows(run, static_cast<const uint8_t*>(a), run.groups[0].k, storage);
  internal::RunDense(run, pool);
}

Status CheckSizes(std::string_view what, int64_t m, int64_t n, int64_t k) {
  if (m >= 0 && n >= 0 && k > 0) return {};
  return Fail(Code::kInvalidArgument,
              "{}: m {} and n {} must not be negative, and k {} must be positive", what, m, n, k);
}

}  // namespace

struct GemmPlan::State {
  Storage storage = Storage::kU8;
  DenseWeights weights;
  std::optional<internal::ResidualParams> residual = {};
  std::optional<LookupTable> lookup = {};

  DenseRun RunOf(int64_t m, void* out) const {
    DenseRun run = int8::RunOf(weights, m, out);
    if (lookup) run.lookup = &*lookup;
    return run;
  }
};

Result<GemmPlan> GemmPlan::Prepare(const GemmSpec& spec) {
  OCTAVO_CHECK(CheckSizes("integer Gemm", 0, spec.n, spec.k));
  OCTAVO_CHECK(internal::CheckOperands("integer Gemm", spec.input, spec.weights, spec.bias,
                                       spec.requantization, spec.n));
  if (spec.lookup && OutputSize(spec.requantization.output) != 1) {
    return Fail(Code::kInvalidArgument, "integer Gemm: a lookup table needs an 8-bit result");
  }
  DenseSource source = SourceOf(spec.weights, spec.layout, spec.n, spec.k);
  source.bias = spec.bias;
  GemmPlan plan;
  auto state = std::make_shared<State>(
      State{spec.input.storage, internal::PackDense(source, spec.input, spec.requantization)});
  if (spec.residual) state->residual = internal::ParamsOf(*spec.residual, spec.requantization);
  state->lookup = spec.lookup;
  plan.state_ = std::move(state);
  return plan;
}

void GemmPlan::Run(const void* a, int64_t m, void* out, ThreadPool& pool) const {
  RunProduct(state_->RunOf(m, out), a, state_->storage, pool);
}

void GemmPlan::Run(const void* a, int64_t m, const Addend& addend, void* out,
                   ThreadPool& pool) const {
  DenseRun run = state_->RunOf(m, out);
  run.addend = static_cast<const uint8_t*>(addend.data);
  run.addend_stride = addend.is_one_row ? 0 : state_->weights.n;
  run.residual = &*state_->residual;
  RunProduct(run, a, state_->storage, pool);
}

struct MatMulPlan::State {
  MatMulSpec spec;
  std::vector<float> multipliers;
};

Result<MatMulPlan> MatMulPlan::Prepare(const MatMulSpec& spec) {
  OCTAVO_CHECK(CheckSizes("integer MatMul", spec.m, spec.n, spec.k));
  const int32_t zeros[] = {spec.b.zero_point};
  OCTAVO_CHECK(internal::CheckOperands("integer MatMul", spec.a,
                                       {.storage = spec.b.storage, .zero_points = zeros}, {},
                                       spec.requantization, spec.n));
  auto state = std::make_shared<State>();
  state->spec = spec;
  state->multipliers.assign(spec.requantization.multipliers.begin(),
                            spec.requantization.multipliers.end());
  state->spec.requantization.multipliers = state->multipliers;
  MatMulPlan plan;
  plan.state_ = std::move(state);
  return plan;
}

void MatMulPlan::Run(const void* a, const void* b, void* out, const MatMulItems& items,
                     ThreadPool& pool) const {
  const MatMulSpec& spec = state_->spec;
  const int64_t bytes = spec.m * spec.n * OutputSize(spec.requantization.output);
  const int32_t zeros[] = {spec.b.zero_point};
  // Each thread takes whole items if there are enough; a nested parallel loop runs inline.
  const int64_t grain = items.count >= pool.threads() ? 1 : items.count;
  pool.For(items.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Weights right{static_cast<const uint8_t*>(b) + items.b_offsets[i], spec.b.storage,
                          zeros};
      const DenseWeights packed = internal::PackDense(SourceOf(right, spec.layout, spec.n, spec.k),
                                                      spec.a, spec.requantization);
      RunProduct(RunOf(packed, spec.m, static_cast<uint8_t*>(out) + i * bytes),
                 static_cast<const uint8_t*>(a) + items.a_offsets[i], spec.a.storage, pool);
    }
  });
}

}  // namespace octavo::runtime::int8
