#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how many nodes of each operator an ONNX model has, as JSON {"Conv": 2, ..}.  Reads what ONNX
Runtime's optimizer saves, whose operators only it knows.

    operators.py MODEL.onnx
"""

import collections
import json
import sys

import onnx

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = onnx.load(sys.argv[1], load_external_data=False)
    print(json.dumps(collections.Counter(node.op_type for node in model.graph.node)))
