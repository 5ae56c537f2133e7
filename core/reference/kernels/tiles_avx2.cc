// The float tiles for AVX2 with FMA.
#if defined(__x86_64__)
#include <immintrin.h>

#include "core/reference/kernels/tiles_body.h"

namespace octavo::reference::internal {
namespace {

struct Avx2 {
  using Reg = __m256;
  static constexpr int kLanes = 8;
  static constexpr int kRows = 4;
  static Reg Zero() { return _mm256_setzero_ps(); }
  static Reg Load(const float* p) { return _mm256_loadu_ps(p); }
  static void Store(float* p, Reg x) { _mm256_storeu_ps(p, x); }
  static Reg Broadcast(float x) { return _mm256_set1_ps(x); }
  static Reg Add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  static Reg Fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
};

}  // namespace

constexpr Tiles kAvx2TilesValue = MakeTiles<Avx2>();
const Tiles kAvx2Tiles = kAvx2TilesValue;

}  // namespace octavo::reference::internal
#endif
