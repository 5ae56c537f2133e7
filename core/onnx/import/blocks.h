// SPDX-License-Identifier: Apache-2.0
// Blocked quantization (DequantizeLinear of opset 21 with block_size): each run of block_size
// elements along an axis has its own scale and zero point, as in the weights of large language
// models.  Import dequantizes such constants, because ops support one scale and zero point per
// tensor or per channel; Octavo can then quantize them again.  A warning reports this.
#pragma once

#include "core/onnx/import/graph_builder.h"

namespace octavo::onnx {

// Inputs (x, scale, zero point): x must be constant.  Scale and zero point have x's shape, except
// along `axis`: there, their extent is x's divided by block_size, rounded up.  Computes
// y = (x - zero) * scale in float32.
Status DequantizeBlocks(GraphBuilder& builder, const Draft& draft);

}  // namespace octavo::onnx
