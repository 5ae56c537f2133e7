#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/guide.md: from a float model and a folder of JPEGs to a gated int8 model, as it is typed."""

import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

import numpy as np
import onnx
from images import jpeg
from onnx import helper
from programs import DIGITS, OCTAVO, PATIENCE, ROOT, Case, clean_environment, octavo

PAGE = ROOT / "docs" / "guide.md"
SHARED = pathlib.Path(os.environ.get("OCTAVO_SHARED", ROOT.parent / "shared")) / "models"


def as_tensorflow_exports(model):
    """The same network in the form of tf2onnx: channels last, names of a SavedModel."""
    graph = model.graph
    name, result = graph.input[0].name, graph.output[0].name
    nhwc = helper.make_tensor_value_info("serving_default_image:0", onnx.TensorProto.FLOAT,
                                         ["unk__1", 28, 28, 1])
    transpose = helper.make_node("Transpose", [nhwc.name], [name], perm=[0, 3, 1, 2],
                                 name="StatefulPartitionedCall/transpose")
    graph.node.insert(0, transpose)
    graph.input[0].CopyFrom(nhwc)
    for node in graph.node:
        node.output[:] = ["StatefulPartitionedCall:0" if x == result else x for x in node.output]
    graph.output[0].name = "StatefulPartitionedCall:0"
    model.producer_name = "tf2onnx"
    onnx.checker.check_model(model)
    return model


class Guide(Case):
    def photos(self, folder, images):
        """Writes images of values 0 to 255."""
        (self.folder / folder).mkdir()
        for i, image in enumerate(images):
            (self.folder / folder / f"{i:04}.jpg").write_bytes(jpeg(image))

    def write_digits(self, model):
        onnx.save(model, self.folder / "model.onnx")
        pixels = [np.rint(np.load(DIGITS / name)["image"][:, 0] * 255).astype(np.uint8)
                  for name in ("calibration.npz", "heldout.npz")]
        self.photos("photos", pixels[0])
        self.photos("heldout", pixels[1][:200])
        np.save(self.folder / "labels.npy", np.load(DIGITS / "labels.npy").reshape(-1)[:200])

    def follow(self, page=None):
        """Types every block of the guide; each command must end with exit code 0."""
        blocks = re.findall(r"```sh\n(.*?)```", page or PAGE.read_text(), re.DOTALL)
        self.assertGreaterEqual(len(blocks), 9)
        programs = pathlib.Path(OCTAVO).resolve().parent
        path = f"{programs}:{programs.parent / 'server'}:{os.environ['PATH']}"
        shell = subprocess.Popen(["sh", "-eu", "-c", "\n".join(blocks)], cwd=self.folder,
                                 env=clean_environment(PATH=path), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            said, _ = shell.communicate(timeout=PATIENCE)
        finally:
            try:  # octavod, where a command failed
                os.killpg(shell.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        self.assertEqual(shell.returncode, 0, said)
        return said

    def check_result(self, most_lost):
        """int8.onnx is gated and as right as the float model."""
        report = json.loads((self.folder / "report.json").read_text())
        numerics = report["numerics"]
        self.assertEqual((numerics["samples"], numerics["samples_role"]), (200, "evaluation"))
        self.assertGreater(numerics["outputs"][0]["sqnr_db"], 20)
        accuracy = numerics["accuracy"]
        self.assertGreater(accuracy["top1_float"], 0.95)
        self.assertGreaterEqual(accuracy["top1"], accuracy["top1_float"] - most_lost)
        self.assertEqual(report["options"]["require_sqnr"], 20)
        self.assertFalse(json.loads((self.folder / "summary.json").read_text())["gate_failed"])
        int8, model = (onnx.load(self.folder / name) for name in ("int8.onnx", "model.onnx"))
        initializers = {each.name for each in model.graph.initializer}
        inputs = [each.name for each in model.graph.input if each.name not in initializers]
        self.assertEqual([each.name for each in int8.graph.input], inputs)
        self.assertEqual([each.name for each in int8.graph.output],
                         [each.name for each in model.graph.output])
        self.assertIn("QuantizeLinear", {node.op_type for node in int8.graph.node})

    def test_from_a_pytorch_export_and_a_folder_of_jpegs_to_a_gated_int8_model(self):
        self.write_digits(onnx.load(DIGITS / "model.onnx"))
        said = self.follow()
        self.assertRegex(said, r"octavo: top-1 \d+\.\d\d % \(float model: \d+\.\d\d %\)")
        self.check_result(0.01)

    def test_from_a_tensorflow_export_and_a_folder_of_jpegs_to_a_gated_int8_model(self):
        self.write_digits(as_tensorflow_exports(onnx.load(DIGITS / "model.onnx")))
        self.follow()
        self.check_result(0.01)

    def test_from_a_model_that_pytorch_exported_in_2019(self):
        model = SHARED / "mnist_cnn_pytorch"
        if not model.is_dir():
            self.skipTest(f"{model} is not there")
        (self.folder / "model.onnx").write_bytes((model / "model.onnx").read_bytes())
        samples = next(iter(np.load(model / "samples.npz").values()))[:300, 0]
        pixels = np.clip(np.rint((samples * 0.3081 + 0.1307) * 255), 0, 255).astype(np.uint8)
        self.photos("photos", pixels[200:])
        self.photos("heldout", pixels[:200])
        np.save(self.folder / "labels.npy", np.load(model / "labels.npy").reshape(-1)[:200])
        page = PAGE.read_text()
        self.assertIn("mean: [0]\nstd: [1]\n", page)
        self.follow(page.replace("mean: [0]\nstd: [1]\n", "mean: [0.1307]\nstd: [0.3081]\n"))
        self.check_result(0.02)

    def test_a_gate_that_fails_is_exit_5_and_its_message_names_the_figure(self):
        self.write_digits(onnx.load(DIGITS / "model.onnx"))
        result = octavo("optimize", self.folder / "model.onnx", "--data", self.folder / "photos",
                        "--image", "crop=center", "-o", self.folder / "int8.onnx",
                        "--require-sqnr", "90", "--quiet")
        self.assert_fails(result, 5, "output 'logits' has an SQNR of", "below 90")
        self.assertTrue((self.folder / "int8.onnx").exists())


if __name__ == "__main__":
    unittest.main()
