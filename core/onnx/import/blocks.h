// SPDX-License-Identifier: Apache-2.0
// Blocked quantization (DequantizeLinear of opset 21 with block_size): each run of block_size
// elements along an axis has its own scale and zero point, as in the weights of large language
// models.  Types have one pair per tensor or per channel, so a constant is dequantized at import
// and can be quantized again by Octavo; a warning says so.
#pragma once

#include "core/onnx/import/graph_builder.h"

namespace octavo::onnx {

// (x, scale, zero point): x is constant; scale and zero point have its shape but along `axis`,
// where their extent is x's divided by block_size, rounded up.  y = (x - zero) * scale, in float32.
Status DequantizeBlocks(GraphBuilder& builder, const Draft& draft);

}  // namespace octavo::onnx
