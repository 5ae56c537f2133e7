// SPDX-License-Identifier: Apache-2.0
#include "core/base/cpu.h"
#include "core/runtime/simd/kernels.h"

namespace octavo::runtime::simd {

const Kernels& CurrentKernels() {
  return ForIsa(portable::kKernels, avx2::kKernels, avx512::kKernels);
}

}  // namespace octavo::runtime::simd
