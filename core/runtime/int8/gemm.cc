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
          .segments = 1,
          .segment = k,
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
  return Fail(Code::kInvalidArgument, "{}: there is no product of sizes m {}, n {}, k {}", what, m,
              n, k);
}

}  // namespace

struct GemmPlan::State {
  Storage storage = Storage::kU8;
  DenseWeights weights;
  std::optional<internal::AdditionEnding> addition = {};
  std::optional<CodeMap> map = {};

  DenseRun RunOf(int64_t m, void* out) const {
    DenseRun run = int8::RunOf(weights, m, out);
    if (map) run.map = &*map;
    return run;
  }
};

Result<GemmPlan> GemmPlan::Prepare(const GemmSpec& spec) {
  OCTAVO_CHECK(CheckSizes("integer Gemm", 0, spec.n, spec.k));
  OCTAVO_CHECK(internal::CheckOperands("integer Gemm", spec.input, spec.weights, spec.bias,
                                       spec.finish, spec.n));
  if (spec.map && OutputSize(spec.finish.output) != 1) {
    return Fail(Code::kInvalidArgument, "integer Gemm: only codes of 8 bits can be looked up");
  }
  DenseSource source = SourceOf(spec.weights, spec.layout, spec.n, spec.k);
  source.bias = spec.bias;
  GemmPlan plan;
  auto state = std::make_shared<State>(
      State{spec.input.storage, internal::PackDense(source, spec.input, spec.finish)});
  if (spec.addition) state->addition = internal::EndingOf(*spec.addition, spec.finish);
  state->map = spec.map;
  plan.state_ = std::move(state);
  return plan;
}

void GemmPlan::Run(const void* a, int64_t m, void* out, ThreadPool& pool) const {
  RunProduct(state_->RunOf(m, out), a, state_->storage, pool);
}

void GemmPlan::Run(const void* a, int64_t m, const Addend& addend, void* out,
                   ThreadPool& pool) const {
  DenseRun run = state_->RunOf(m, out);
  run.addend = static_cast<const uint8_t*>(addend.codes);
  run.addend_stride = addend.is_one_row ? 0 : state_->weights.n;
  run.addition = &*state_->addition;
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
                                       spec.finish, spec.n));
  auto state = std::make_shared<State>();
  state->spec = spec;
  state->multipliers.assign(spec.finish.multipliers.begin(), spec.finish.multipliers.end());
  state->spec.finish.multipliers = state->multipliers;
  MatMulPlan plan;
  plan.state_ = std::move(state);
  return plan;
}

void MatMulPlan::Run(const void* a, const void* b, void* out, const MatMulItems& items,
                     ThreadPool& pool) const {
  const MatMulSpec& spec = state_->spec;
  const int64_t bytes = spec.m * spec.n * OutputSize(spec.finish.output);
  const int32_t zeros[] = {spec.b.zero_point};
  // Where there are items enough, threads take whole ones: a loop within a loop runs inline.
  const int64_t grain = items.count >= pool.threads() ? 1 : items.count;
  pool.For(items.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Weights right{static_cast<const uint8_t*>(b) + items.b_offsets[i], spec.b.storage,
                          zeros};
      const DenseWeights packed =
          internal::PackDense(SourceOf(right, spec.layout, spec.n, spec.k), spec.a, spec.finish);
      RunProduct(RunOf(packed, spec.m, static_cast<uint8_t*>(out) + i * bytes),
                 static_cast<const uint8_t*>(a) + items.a_offsets[i], spec.a.storage, pool);
    }
  });
}

}  // namespace octavo::runtime::int8
