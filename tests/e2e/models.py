# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models, good and bad ones, made by Debian's onnx."""

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

IMAGE = [1, 2, 4, 4]
STAMP = ("octavo.action_digest", "octavo.options", "octavo.profile_digest")


def without_stamp(model_bytes):
    """An exported model without what it says of its job, to compare jobs that are not the same."""
    exported = ModelProto.FromString(model_bytes)
    kept = [entry for entry in exported.metadata_props if entry.key not in STAMP]
    del exported.metadata_props[:]
    exported.metadata_props.extend(kept)
    return exported.SerializeToString()


def tensor(name, values, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def model(nodes, initializers=(), inputs=(("x", IMAGE),), outputs=("y",), opset=13):
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def weight(channels_in=2, fill=None):
    values = np.random.default_rng(0).normal(size=(3, channels_in, 3, 3))
    if fill is not None:
        values[1, 0, 2, 2] = fill
    return tensor("w", values)


def conv(w=None, **more):
    return model([helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1, 1, 1, 1])],
                 [weight() if w is None else w], **more)


def relu_of(op, domain="", **attributes):
    return model([helper.make_node(op, ["x"], ["t"], name="odd", domain=domain, **attributes),
                  helper.make_node("Relu", ["t"], ["y"])])


def cycle():
    return model([helper.make_node("Add", ["x", "b"], ["a"], name="first"),
                  helper.make_node("Relu", ["a"], ["b"], name="second"),
                  helper.make_node("Relu", ["b"], ["y"])])


def defined_twice():
    return model([helper.make_node("Relu", ["x"], ["y"], name="one"),
                  helper.make_node("Neg", ["x"], ["y"], name="two")])


def branch():
    side = helper.make_graph([helper.make_node("Identity", ["x"], ["z"])], "side", [],
                             [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
    return model([helper.make_node("If", ["c"], ["y"], name="choice", then_branch=side,
                                   else_branch=side)],
                 [tensor("c", True, np.bool_)])


def quantized(scale, constant=True):
    initializers = [tensor("zero", 0, np.uint8)]
    inputs = [("x", IMAGE)]
    if constant:
        initializers.append(tensor("scale", scale))
    else:
        inputs.append(("scale", []))
    return model([helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], name="quant"),
                  helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"])],
                 initializers, inputs)


def deep(nodes):
    names = ["x", *(f"t{i}" for i in range(nodes - 1)), "y"]
    return model([helper.make_node("Neg", [a], [b]) for a, b in zip(names, names[1:])])


def samples(path, shape=IMAGE, name="x", dtype=np.float32, count=3):
    data = np.random.default_rng(1).normal(size=[count * shape[0], *shape[1:]]).astype(dtype)
    np.savez(path, **{name: data})
    return path
