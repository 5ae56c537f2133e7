// SPDX-License-Identifier: Apache-2.0
// From the elements as a .npy file stores them to those of a tensor.
#pragma once

#include <span>
#include <string_view>

#include "core/data/npy.h"

namespace octavo::data {

// Bytes read from a mapped file before its pages are released.
inline constexpr size_t kReleaseAfter = size_t{8} << 20;

// Fills `out` with the elements from `first` of the row-major order; `stored` holds all elements in
// Fortran order, each of `width` bytes.
void CopyFortran(const ir::Shape& shape, size_t width, std::span<const std::byte> stored,
                 size_t first, std::span<std::byte> out);

// Swaps the bytes of big-endian elements and checks those of a bool.
Status FinishElements(std::string_view what, const NpyHeader& header, std::span<std::byte> part);

}  // namespace octavo::data
