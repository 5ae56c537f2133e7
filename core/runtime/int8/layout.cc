#include "core/runtime/int8/layout.h"

#include <algorithm>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace octavo::runtime::int8 {
namespace {

constexpr int64_t kSide = 16;

// to[c][r] = from[r][c] for a part of a matrix.
void TransposeAny(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride,
                  int64_t rows, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

#if defined(__SSE2__)
// Four rounds of interleaving row i with row i + 8 transpose 16 x 16 bytes: each moves one bit of
// the row number to the column number.
void TransposeSquare(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride) {
  __m128i a[kSide], b[kSide];
  for (int64_t i = 0; i < kSide; ++i) {
    a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_stride));
  }
  for (int round = 0; round < 4; ++round) {
    for (int64_t i = 0; i < kSide / 2; ++i) {
      b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + kSide / 2]);
      b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + kSide / 2]);
    }
    std::copy(b, b + kSide, a);
  }
  for (int64_t i = 0; i < kSide; ++i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_stride), a[i]);
  }
}
#else
void TransposeSquare(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride) {
  TransposeAny(from, from_stride, to, to_stride, kSide, kSide);
}
#endif

// Rows [begin, end) of a matrix of `rows` x `columns`.
void TransposeRows(const uint8_t* from, uint8_t* to, int64_t rows, int64_t columns, int64_t begin,
                   int64_t end) {
  for (int64_t r = begin; r < end; r += kSide) {
    const int64_t height = std::min(kSide, end - r);
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t width = std::min(kSide, columns - c);
      const uint8_t* source = from + r * columns + c;
      uint8_t* target = to + c * rows + r;
      if (height == kSide && width == kSide) {
        TransposeSquare(source, columns, target, rows);
      } else {
        TransposeAny(source, columns, target, rows, height, width);
      }
    }
  }
}

void Transpose(const void* from, void* to, int64_t batch, int64_t rows, int64_t columns,
               ThreadPool& pool) {
  const int64_t strips = (rows + kSide - 1) / kSide;
  const int64_t grain = std::max<int64_t>(1, 16384 / (kSide * std::max<int64_t>(1, columns)));
  pool.For(batch * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / strips * rows * columns, row = i % strips * kSide;
      TransposeRows(static_cast<const uint8_t*>(from) + image, static_cast<uint8_t*>(to) + image,
                    rows, columns, row, std::min(row + kSide, rows));
    }
  });
}

}  // namespace

void NchwToNhwc(const ImageShape& shape, const void* from, void* to, ThreadPool& pool) {
  Transpose(from, to, shape.batch, shape.channels, shape.pixels, pool);
}

void NhwcToNchw(const ImageShape& shape, const void* from, void* to, ThreadPool& pool) {
  Transpose(from, to, shape.batch, shape.pixels, shape.channels, pool);
}

}  // namespace octavo::runtime::int8
