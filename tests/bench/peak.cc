// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/peak.h"

#include "core/base/cpu.h"

namespace octavo::bench {
namespace {

constexpr int kRounds = 16000;
constexpr int kProducts = 16;                 // per round, each with its own register
constexpr double kOperations = 2.0 * 4 * 16;  // per product

#if defined(__x86_64__)
#define OCTAVO_PRODUCT(sum) "vpdpbusd %%zmm16, %%zmm17, %%zmm" #sum "\n\t"

__attribute__((target("avx512f,avx512vnni"))) void Products() {
  for (int i = 0; i < kRounds; ++i) {
    asm volatile(
        OCTAVO_PRODUCT(0) OCTAVO_PRODUCT(1) OCTAVO_PRODUCT(2) OCTAVO_PRODUCT(3) OCTAVO_PRODUCT(4)
            OCTAVO_PRODUCT(5) OCTAVO_PRODUCT(6) OCTAVO_PRODUCT(7) OCTAVO_PRODUCT(8)
                OCTAVO_PRODUCT(9) OCTAVO_PRODUCT(10) OCTAVO_PRODUCT(11) OCTAVO_PRODUCT(12)
                    OCTAVO_PRODUCT(13) OCTAVO_PRODUCT(14) OCTAVO_PRODUCT(15)::
                        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                          "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
}
#undef OCTAVO_PRODUCT
#endif

}  // namespace

bool HasPeak() { return MachineIsa() >= Isa::kAvx512Vnni; }

double RunPeak() {
#if defined(__x86_64__)
  if (HasPeak()) Products();
#endif
  return kOperations * kProducts * kRounds;
}

}  // namespace octavo::bench
