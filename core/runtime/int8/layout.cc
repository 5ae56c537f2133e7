// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/layout.h"

#include <algorithm>
#include <cstring>

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
// Transposes 16 x 16 bytes in four rounds that interleave row i with row i + 8.  Each round moves
// one bit of the row number to the column number.
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

#if defined(__SSE2__)
// Interleaves three planes to pixels of three bytes, eight pixels at a time.  Bytes are widened to
// one word per pixel; then the unused byte between two words of a pair is removed.  Returns the
// number of finished pixels; writes up to two bytes beyond them.
int64_t WeaveThree(const uint8_t* from, int64_t plane, uint8_t* to, int64_t pixels) {
  const __m128i zero = _mm_setzero_si128();
  const __m128i even = _mm_set1_epi64x(0xffffff), odd = _mm_set1_epi64x(0xffffff000000);
  const auto load = [&](int64_t channel, int64_t pixel) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + channel * plane + pixel));
  };
  const auto store = [&](__m128i words, uint8_t* at) {
    const __m128i packed =
        _mm_or_si128(_mm_and_si128(words, even), _mm_and_si128(_mm_srli_epi64(words, 8), odd));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(at), packed);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(at + 6), _mm_unpackhi_epi64(packed, packed));
  };
  int64_t i = 0;
  for (; i + 9 <= pixels; i += 8) {
    const __m128i first = _mm_unpacklo_epi8(load(0, i), load(1, i));
    const __m128i third = _mm_unpacklo_epi8(load(2, i), zero);
    store(_mm_unpacklo_epi16(first, third), to + 3 * i);
    store(_mm_unpackhi_epi16(first, third), to + 3 * i + 12);
  }
  return i;
}
#else
int64_t WeaveThree(const uint8_t*, int64_t, uint8_t*, int64_t) { return 0; }
#endif

// Transposes a part of at most 16 x 16 with TransposeSquare.  `readable` bytes follow `from`.
void TransposePart(const uint8_t* from, int64_t from_stride, int64_t readable, uint8_t* to,
                   int64_t to_stride, int64_t rows, int64_t columns) {
  if (rows * columns < 2 * kSide) {
    return TransposeAny(from, from_stride, to, to_stride, rows, columns);
  }
  uint8_t whole[kSide * kSide], transposed[kSide * kSide];
  const bool in_place = rows == kSide && (kSide - 1) * from_stride + kSide <= readable;
  for (int64_t r = 0; !in_place && r < rows; ++r) {
    const bool uses_fma = r * from_stride + kSide > readable;
    std::memcpy(whole + r * kSide, from + r * from_stride,
                static_cast<size_t>(uses_fma ? columns : kSide));
  }
  const uint8_t* source = in_place ? from : whole;
  if (rows == kSide) {
    // Columns become rows of the result; only the first `columns` rows are needed.
    TransposeSquare(source, in_place ? from_stride : kSide, transposed, kSide);
    for (int64_t c = 0; c < columns; ++c)
      std::memcpy(to + c * to_stride, transposed + c * kSide, kSide);
    return;
  }
  TransposeSquare(source, kSide, transposed, kSide);
  for (int64_t c = 0; c < columns; ++c) {
    std::memcpy(to + c * to_stride, transposed + c * kSide, static_cast<size_t>(rows));
  }
}

// A part of a matrix of `rows` x `columns`.
struct Part {
  int64_t first_row = 0, last_row = 0;
  int64_t first_column = 0, last_column = 0;
};

void TransposeRows(const uint8_t* from, uint8_t* to, int64_t rows, int64_t columns,
                   const Part& part) {
  if (rows == 3) {
    const int64_t count = part.last_column - part.first_column;
    const uint8_t* source = from + part.first_column;
    uint8_t* target = to + 3 * part.first_column;
    const int64_t done = WeaveThree(source, columns, target, count);
    return TransposeAny(source + done, columns, target + 3 * done, 3, 3, count - done);
  }
  for (int64_t r = part.first_row; r < part.last_row; r += kSide) {
    const int64_t height = std::min(kSide, part.last_row - r);
    for (int64_t c = part.first_column; c < part.last_column; c += kSide) {
      const int64_t width = std::min(kSide, part.last_column - c);
      const uint8_t* source = from + r * columns + c;
      uint8_t* target = to + c * rows + r;
      if (height == kSide && width == kSide) {
        TransposeSquare(source, columns, target, rows);
      } else {
        TransposePart(source, columns, from + rows * columns - source, target, rows, height, width);
      }
    }
  }
}

// Splits the work by rows, or by columns if there are few rows.
void Transpose(const void* from, void* to, int64_t batch, int64_t rows, int64_t columns,
               ThreadPool& pool) {
  constexpr int64_t kPartBytes = 16384;
  const bool by_columns = rows < columns;
  const int64_t length = by_columns ? columns : rows, breadth = by_columns ? rows : columns;
  const int64_t step =
      std::max<int64_t>(1, kPartBytes / (kSide * std::max<int64_t>(1, breadth))) * kSide;
  const int64_t parts = (length + step - 1) / step;
  pool.For(batch * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / parts * rows * columns, first = i % parts * step;
      const int64_t last = std::min(first + step, length);
      TransposeRows(static_cast<const uint8_t*>(from) + image, static_cast<uint8_t*>(to) + image,
                    rows, columns,
                    by_columns ? Part{0, rows, first, last} : Part{first, last, 0, columns});
    }
  });
}

}  // namespace

void TransposeBytes(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride,
                    int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; r += kSide) {
    const int64_t height = std::min(kSide, rows - r);
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t width = std::min(kSide, columns - c);
      const uint8_t* source = from + r * from_stride + c;
      uint8_t* target = to + c * to_stride + r;
      if (height == kSide && width == kSide) {
        TransposeSquare(source, from_stride, target, to_stride);
      } else {
        TransposeAny(source, from_stride, target, to_stride, height, width);
      }
    }
  }
}

void NchwToNhwc(const ImageShape& shape, const void* from, void* to, ThreadPool& pool) {
  Transpose(from, to, shape.batch, shape.channels, shape.pixels, pool);
}

void NhwcToNchw(const ImageShape& shape, const void* from, void* to, ThreadPool& pool) {
  Transpose(from, to, shape.batch, shape.pixels, shape.channels, pool);
}

}  // namespace octavo::runtime::int8
