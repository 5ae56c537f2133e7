// SPDX-License-Identifier: Apache-2.0
// Integer matrix products: activations times constant weights, or activations times activations.
// Computes the requantization of
//   sum over k of (a[m,k] - za) * (b[k,n] - zb[n]) + bias[n]
// in int32, see types.h.  The bits do not depend on the number of threads or on the instruction
// set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/parallel.h"
#include "core/base/status.h"
#include "core/runtime/int8/types.h"

namespace octavo::runtime::int8 {

// The memory order of B; dense.
enum class Layout { kKn, kNk };

struct GemmSpec {
  int64_t n = 0, k = 0;
  Activation input = {};
  Weights weights = {};  // channels are the columns n
  Layout layout = Layout::kKn;
  std::span<const int32_t> bias = {};  // empty or n
  Requantization requantization = {};
  std::optional<ResidualAdd> residual = {};
  std::optional<LookupTable> lookup = {};  // for an 8-bit result, after the residual
};

class GemmPlan {
 public:
  // Packs the weights for CurrentIsa().  kInvalidArgument for an inconsistent spec.  The caller
  // must have checked FitsInt32 (with the weights as [n][k]).
  static Result<GemmPlan> Prepare(const GemmSpec& spec);

  // a [m, k] and out [m, n] are dense and must not overlap.  Thread-safe.
  void Run(const void* a, int64_t m, void* out, ThreadPool& pool) const;
  // The addend of a residual: its rows are n elements apart, or one row is added to all.
  struct Addend {
    const void* data = nullptr;
    bool is_one_row = false;
  };
  void Run(const void* a, int64_t m, const Addend& addend, void* out, ThreadPool& pool) const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

// Both operands are activations; every run packs B.
struct MatMulSpec {
  int64_t m = 0, n = 0, k = 0;
  Activation a = {}, b = {};
  Layout layout = Layout::kKn;         // of b
  Requantization requantization = {};  // with one multiplier or n
};

// `count` products.  Item i reads a + a_offsets[i] and b + b_offsets[i] (equal offsets broadcast)
// and writes matrix i, [m, n], of out.
struct MatMulItems {
  int64_t count = 1;
  const int64_t* a_offsets = nullptr;
  const int64_t* b_offsets = nullptr;
};

class MatMulPlan {
 public:
  // The caller must have checked k * max|a - za| * max|b - zb| < 2^31.
  static Result<MatMulPlan> Prepare(const MatMulSpec& spec);
  void Run(const void* a, const void* b, void* out, const MatMulItems& items,
           ThreadPool& pool) const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace octavo::runtime::int8
