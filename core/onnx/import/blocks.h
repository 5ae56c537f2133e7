// SPDX-License-Identifier: Apache-2.0
// Blocked quantization (QuantizeLinear and DequantizeLinear of opset 21 with block_size): each run
// of block_size elements along an axis has its own scale and zero point, as in the weights of large
// language models.  Constants keep their blocks, and integers of 4 bits their type.
#pragma once

#include "core/onnx/import/graph_builder.h"

namespace octavo::onnx {

// Inputs (x, scale, zero point), all constant; the zero point is 0 if absent.  Scale and zero point
// have x's shape, except along `axis`: there, their extent is x's divided by block_size, rounded
// up. The result of QuantizeBlocks has that dtype; DequantizeBlocks reads it, or integers.
Status QuantizeBlocks(GraphBuilder& builder, const Draft& draft, ir::DType dtype);
Status DequantizeBlocks(GraphBuilder& builder, const Draft& draft);

}  // namespace octavo::onnx
