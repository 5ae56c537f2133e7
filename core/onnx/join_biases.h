// Makes a vector that is added to a product the bias of that product:
//
//   Add(Op(x, w), b)      ->  Op(x, w, b)      Op takes a bias: Conv, ConvTranspose, Gemm
//   Add(MatMul(x, w), b)  ->  Gemm(x, w, b)    x and w are matrices
//
// for x and w that come out of Dequantize, b a float constant with one element per channel, and no
// other reader of the product.  TensorFlow's exporters write biases so.  Nothing is rounded between
// the two, so the results are those of one integer operator as soon as the bias is.
#pragma once

#include "core/ir/graph.h"

namespace octavo::onnx {

void JoinBiases(ir::Graph& graph);

}  // namespace octavo::onnx
