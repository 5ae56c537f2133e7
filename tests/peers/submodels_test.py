# SPDX-License-Identifier: Apache-2.0
"""A cut holds one operator with its constants, and says rightly whether integers must be equal."""

import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(missing)
    sys.exit(77)

import submodels


def model(*nodes):
    """x and y are u8 inputs, read as x.dq and y.dq; the nodes end in a real value named `last`."""
    constants = [numpy_helper.from_array(value, name) for name, value in (
        ("s", np.float32(0.5)), ("z", np.uint8(3)), ("w", np.ones((1, 1, 1, 1), np.float32)),
        ("w.q", np.ones((1, 1, 1, 1), np.int8)), ("z8", np.int8(0)))]
    frame = [helper.make_node("DequantizeLinear", [f"{name}", "s", "z"], [f"{name}.dq"])
             for name in "xy"]
    frame.append(helper.make_node("DequantizeLinear", ["w.q", "s", "z8"], ["w.dq"]))
    nodes = [*frame, *nodes, helper.make_node("QuantizeLinear", ["last", "s", "z"], ["out"])]
    values = [helper.make_tensor_value_info(name, TensorProto.UINT8, [1, 1, 4, 4])
              for name in ("x", "y", "out")]
    graph = helper.make_graph(nodes, "g", values[:2], values[2:], constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        onnx.save(proto, file.name)
        return submodels.Model(file.name)


def only_cut(*nodes):
    cuts = submodels.cuts_of(model(*nodes))
    assert len(cuts) == 1
    return cuts[0]


class Cuts(unittest.TestCase):
    def test_quantized_convolution_must_be_equal(self):
        cut = only_cut(helper.make_node("Conv", ["x.dq", "w.dq"], ["last"], name="c"))
        self.assertEqual({"node": "c", "kind": "Conv", "operators": 1, "demanded": True,
                          "inputs": ["x"], "output": "out"}, cut.describe())

    def test_real_weights_make_it_another_program(self):
        cut = only_cut(helper.make_node("Conv", ["x.dq", "w"], ["last"]))
        self.assertFalse(cut.demanded())

    def test_two_operators_without_rounding_between_are_one_cut(self):
        cut = only_cut(helper.make_node("Conv", ["x.dq", "w.dq"], ["c"]),
                       helper.make_node("Sigmoid", ["c"], ["last"]))
        self.assertEqual("Conv+Sigmoid", cut.describe()["kind"])
        self.assertFalse(cut.demanded())

    def test_an_operator_that_is_written_out_is_one(self):
        cut = only_cut(helper.make_node("Sigmoid", ["x.dq"], ["gate"]),
                       helper.make_node("Mul", ["x.dq", "gate"], ["last"], name="silu"))
        told = cut.describe()
        self.assertEqual(("Swish", 1, False), (told["kind"], told["operators"], told["demanded"]))

    def test_an_operator_of_two_values_takes_both(self):
        cut = only_cut(helper.make_node("Concat", ["x.dq", "y.dq"], ["last"], axis=1))
        self.assertEqual(["x", "y"], cut.inputs)
        self.assertTrue(cut.demanded())

    def test_a_built_cut_is_a_valid_model_with_plain_names(self):
        cut = only_cut(helper.make_node("Conv", ["x.dq", "w.dq"], ["last"]))
        images = {"dtype": "uint8", "shape": [1, 1, 4, 4]}
        built = cut.build({"x": images, "out": images})
        onnx.checker.check_model(built)
        self.assertEqual(["input_0"], [value.name for value in built.graph.input])
        self.assertEqual(["result"], [value.name for value in built.graph.output])
        self.assertEqual({"s", "z", "w.q", "z8"}, {t.name for t in built.graph.initializer})


if __name__ == "__main__":
    unittest.main()
