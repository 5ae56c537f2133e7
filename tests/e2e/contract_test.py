#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an exported model keeps: every field of ModelProto, found by reflection, before and after a
job on the trained models.  The only differences are those of ALLOWED, each with its reason."""

import dataclasses
import os
import pathlib
import unittest

import messages
import numpy as np
import onnx
from onnx import numpy_helper
from programs import ROOT, Case, octavo

MODELS = pathlib.Path(os.environ.get("OCTAVO_SHARED", ROOT.parent / "shared")) / "models"


class Models:
    """A model and its result, with what the conditions of ALLOWED ask for."""

    def __init__(self, before, after):
        self.before, self.after = before, after
        self.opsets = [next(each.version for each in model.opset_import if not each.domain)
                       for model in (before, after)]
        self.initializers = {each.name: each for each in before.graph.initializer}
        self.producers = {name: node for node in before.graph.node for name in node.output}
        self.names = {*self.initializers, *self.producers,
                      *(node.name for node in before.graph.node),
                      *(each.name for each in before.graph.input)}
        self.initializers_after = {each.name for each in after.graph.initializer}
        self.computed = {name: node for node in after.graph.node for name in node.output}
        self.read = {name for node in after.graph.node for name in node.input}

    def node(self, difference, of="after"):
        nodes = getattr(self, of).graph.node
        return next(each for each in nodes
                    if f"{each.name} {each.op_type}" == difference.keys[0])

    def is_made(self, name):
        """Whether a name was made from one of the model's: `NAME.q`, `NAME_Quantize`."""
        return name not in self.names and any(name.startswith((own + ".", own + "_"))
                                              for own in self.names)

    def origin(self, name):
        """The value that an input of the result's nodes is in the model, without quantization."""
        while name not in self.names and name in self.computed:
            node = self.computed[name]
            if node.op_type not in ("QuantizeLinear", "DequantizeLinear"):
                break
            name = node.input[0]
        return name

    def is_next_to(self, op, initializer):
        """Whether the initializer's reader is an `op`, follows one or precedes one."""
        readers = [node for node in self.before.graph.node if initializer in node.input]
        outputs = {name for node in readers for name in node.output}
        near = readers + [node for node in self.before.graph.node
                          if outputs.intersection(node.input)]
        near += [self.producers[name] for node in readers for name in node.input
                 if name in self.producers]
        return op in {node.op_type for node in near}


# ------------------------------------------------------------ conditions of differences

def values_of(tensor):
    return numpy_helper.to_array(onnx.TensorProto.FromString(tensor.SerializeToString()))


def value_of(attribute):
    return onnx.helper.get_attribute_value(
        onnx.AttributeProto.FromString(attribute.SerializeToString()))


def has_pad(models, difference):
    """Whether the node has the pads of a Pad before it."""
    producer = models.producers.get(models.node(difference, "before").input[0])
    return difference.keys[1] == "pads" and producer is not None and producer.op_type == "Pad"


def is_said_by_pads(models, difference):
    return difference.before.name == "auto_pad" and value_of(difference.before) == b"VALID"


def is_an_input_now(models, difference):
    return (difference.keys[0].endswith(" Slice") and models.opsets[0] < 10 <= models.opsets[1]
            and difference.before.name in ("starts", "ends", "axes"))


def has_same_elements(models, difference):
    name = difference.keys[0]
    after = next(each for each in models.after.graph.initializer if each.name == name)
    return np.array_equal(values_of(models.initializers[name]).reshape(-1),
                          values_of(after).reshape(-1), equal_nan=True)


def has_batch_normalization(models, difference):
    return models.is_next_to("BatchNormalization", difference.keys[0])


def reads_the_same(models, difference):
    return [models.origin(name) for name in difference.after] == difference.before


def reads_what_was_fused(models, difference):
    now = {models.origin(name) for name in difference.after}
    return all(name not in models.computed for name in set(difference.before) - now)


def reads_parts(models, difference):
    return any(models.is_made(name) and models.computed[name].op_type != "DequantizeLinear"
               for name in difference.after if name in models.computed)


def computes_before_quantization(models, difference):
    return difference.after == [f"{name}.float" for name in difference.before]


def computes_what_was_fused(models, difference):
    return all(name not in models.computed for name in difference.before)


def is_in_order_of_nodes(models, difference):
    at = {name: i for i, name in enumerate(models.computed)}
    return difference.after == sorted(difference.after, key=at.__getitem__)


def names_missing_tensors(models, difference):
    return any(entry.value not in models.initializers_after
               for entry in difference.before.quant_parameter_tensor_names)


@dataclasses.dataclass(frozen=True)
class Row:
    path: str
    kind: str  # new, gone or changed
    why: str
    holds: object = lambda models, difference: True


def row_of_storage(field):
    return Row(f"graph.initializer.{field}", "changed", "elements are stored as raw_data",
               has_same_elements)


ALLOWED = (
    # The model.
    Row("producer_name", "changed", "Octavo wrote it", lambda m, d: d.after == "octavo"),
    Row("producer_version", "changed", "Octavo wrote it", lambda m, d: d.after != ""),
    Row("ir_version", "changed", "at least 4, and what the opset needs",
        lambda m, d: d.after > d.before),
    Row("opset_import.version", "changed", "quantization needs it",
        lambda m, d: d.keys == ("",) and d.after > d.before),
    Row("metadata_props", "new", "how the model came about",
        lambda m, d: d.keys[0].startswith("octavo.")),
    # Inputs, outputs and the types of values.
    Row("graph.input", "gone", "initializers are no inputs",
        lambda m, d: d.keys[0] in m.initializers),
    Row("graph.output.type.tensor_type.shape", "new", "it was declared without a shape"),
    Row("graph.value_info", "new", "every value that a node computes has its type",
        lambda m, d: d.keys[0] in m.computed),
    Row("graph.value_info", "gone", "no node computes it any more",
        lambda m, d: d.keys[0] not in m.computed),
    Row("graph.value_info(order)", "changed", "in the order of the nodes", is_in_order_of_nodes),
    Row("graph.quantization_annotation", "gone", "a tensor that it names is gone",
        names_missing_tensors),
    # Initializers.
    Row("graph.initializer", "gone", "quantized, folded or not read",
        lambda m, d: d.keys[0] in m.computed or d.keys[0] not in m.read),
    Row("graph.initializer", "new", "made from a value of the model",
        lambda m, d: m.is_made(d.keys[0])),
    Row("graph.initializer", "new", "a value that was folded", lambda m, d: d.keys[0] in m.producers),
    Row("graph.initializer(order)", "changed", "in the order of the nodes that read them"),
    Row("graph.initializer.dims", "changed", "the bias that it became has one axis",
        has_same_elements),
    row_of_storage("float_data"), row_of_storage("int64_data"), row_of_storage("raw_data"),
    Row("graph.initializer.float_data", "changed", "a BatchNormalization was folded into it",
        has_batch_normalization),
    Row("graph.initializer.raw_data", "changed", "a BatchNormalization was folded into it",
        has_batch_normalization),
    # Nodes, of which those of the same name and operator are compared.
    Row("graph.node", "gone", "fused or folded"),
    Row("graph.node", "new", "a part of what is written out, or of the quantization",
        lambda m, d: m.is_made(d.after.name)),
    Row("graph.node", "new", "a fused node", lambda m, d: d.after.name in m.names),
    Row("graph.node.input", "changed", "read after a DequantizeLinear", reads_the_same),
    Row("graph.node.input", "changed", "the producer was fused or folded", reads_what_was_fused),
    Row("graph.node.input", "changed", "a part of an operator that is written out", reads_parts),
    Row("graph.node.output", "changed", "read by a QuantizeLinear", computes_before_quantization),
    Row("graph.node.output", "changed", "the consumer was fused into it", computes_what_was_fused),
    Row("graph.node.attribute", "new", "a Pad was folded into it", has_pad),
    Row("graph.node.attribute", "gone", "pads are written out", is_said_by_pads),
    Row("graph.node.attribute", "gone", "an input in the raised opset", is_an_input_now),
    Row("graph.node.attribute(order)", "changed", "by name",
        lambda m, d: d.after == sorted(d.after)),
)


def kind_of(difference):
    if difference.before is None:
        return "new"
    return "gone" if difference.after is None else "changed"


def rows_of(models, difference):
    return [row for row in ALLOWED if (row.path, row.kind) == (difference.path, kind_of(difference))
            and row.holds(models, difference)]


class Contract(Case):
    def documented(self, path):
        """The model with text wherever a producer may write some.  Octavo names a node without a
        name after its first result."""
        model = messages.Model.FromString(path.read_bytes())
        for node in model.graph.node:
            node.name = node.name or node.output[0]
        model.domain, model.model_version = "com.example", 7
        model.opset_import.add(domain="com.example", version=3)
        annotated = model.graph.quantization_annotation.add(
            tensor_name=model.graph.node[0].output[0])
        annotated.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
        messages.fill(model, "about")
        return model

    def result_of(self, model, *flags):
        path, out = self.folder / "model.onnx", self.folder / "out.onnx"
        path.write_bytes(model.SerializeToString())
        result = octavo("optimize", path, "--data", "random:1:1", "--rounding", "nearest", "-o",
                        out, "--quiet", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return messages.Model.FromString(out.read_bytes())

    def test_every_field_of_a_result_is_the_models_or_differs_for_a_reason(self):
        paths = sorted(MODELS.glob("*/model.onnx"))
        if not paths:
            self.skipTest(f"{MODELS} is not there")
        used = set()
        for path in paths:
            for flags in ([], ["--no-quantize"]):
                before = self.documented(path)
                models = Models(before, self.result_of(before, *flags))
                others = []
                for difference in messages.compare(before, models.after):
                    rows = rows_of(models, difference)
                    used.update(rows)
                    others += [] if rows else [str(difference)]
                with self.subTest(path.parent.name, flags=flags):
                    self.assertEqual(others, [])
        unused = [(row.path, row.kind, row.why) for row in ALLOWED
                  if row not in used]
        self.assertEqual(unused, [])

    def test_the_comparison_sees_every_field(self):
        model = messages.Model()
        node = model.graph.node.add(name="n", op_type="Odd")
        node.attribute.add(name="a", f=1).t.dims.append(2)
        model.graph.initializer.add(name="w").float_data.append(3)
        model.graph.value_info.add(name="v").type.tensor_type.shape.dim.add(dim_value=4)
        messages.fill(model, "about")
        paths = set()
        for changed, path in messages.with_one_field_cleared(model):
            self.assertTrue(list(messages.compare(model, changed)), path)
            self.assertEqual(list(messages.compare(changed, changed)), [])
            paths.add(path)
        self.assertLessEqual(
            {"graph.node.attribute.t.dims", "graph.initializer.metadata_props.value",
             "graph.value_info.type.tensor_type.shape.dim.denotation"}, paths)


if __name__ == "__main__":
    unittest.main()
