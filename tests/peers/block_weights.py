#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what an ONNX model stores in blocks, as JSON {"products": MatMul and Gemm nodes with such
weights, "stored": bytes of their integers, scales and zero points, "floats": bytes of the same
weights in float32}.

    block_weights.py MODEL.onnx
"""

import json
import math
import sys

import onnx

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    graph = onnx.load(sys.argv[1]).graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    blocked = {node.output[0]: node for node in graph.node if node.op_type == "DequantizeLinear"
               and any(a.name == "block_size" and a.i > 0 for a in node.attribute)}
    read = [node for node in graph.node
            if node.op_type in ("MatMul", "Gemm") and node.input[1] in blocked]
    weights = {node.input[1] for node in read}
    stored = {name for weight in weights for name in blocked[weight].input}
    print(json.dumps({
        "products": len(read),
        "stored": sum(len(tensors[name].raw_data) for name in stored),
        "floats": sum(4 * math.prod(tensors[blocked[weight].input[0]].dims) for weight in weights)}))
