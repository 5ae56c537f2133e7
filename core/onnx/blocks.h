// Quantization in blocks (DequantizeLinear of opset 21 with block_size): each run of block_size
// elements along an axis has a scale and a zero point of its own, as large language models' weights
// have.  A graph's types know one pair per tensor or per channel, so a constant becomes the reals
// that it stands for, which quantization by Octavo then quantizes anew; a warning says so.
#pragma once

#include "core/onnx/graph_builder.h"

namespace octavo::onnx {

// (x, scale, zero point): x is constant; scale and zero point have its shape but along `axis`,
// where their extent is x's divided by block_size, rounded up.  y = (x - zero) * scale, in float32.
Status DequantizeBlocks(GraphBuilder& builder, const Draft& draft);

}  // namespace octavo::onnx
