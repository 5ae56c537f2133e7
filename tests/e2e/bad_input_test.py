#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input gets its exit code and says what is wrong, in this process and on a service, and the
service lives."""

import json
import random
import unittest

import numpy as np
import onnx

import models
from programs import DIGITS, Case, Server, octavo


class BadInput(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--max-nodes", "500", "--max-model-bytes", str(4 << 20))
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def setUp(self):
        super().setUp()
        self.data = models.samples(self.folder / "x.npz")

    def save(self, model):
        path = self.folder / "m.onnx"
        if isinstance(model, bytes):
            path.write_bytes(model)
        else:
            path.write_bytes(model.SerializeToString())
        return path

    def strict(self):
        return ["--data", self.data, "--strict-ops"]

    def refuse(self, model, code, *words, flags=None):
        """Fails alike here and there, leaves nothing behind, and the server lives."""
        path, out = self.save(model), self.folder / "out.onnx"
        flags = ["--data", self.data] if flags is None else flags
        said = []
        for server in (None, self.server.address):
            result = octavo("optimize", path, "-o", out, *flags, server=server)
            self.assert_fails(result, code, *words)
            self.assertFalse(out.exists())
            said.append([line for line in result.stderr.splitlines() if "error:" in line])
        self.assertEqual(said[0], said[1])
        self.assertTrue(self.server.alive())

    def test_random_samples_beyond_the_limit(self):
        path = self.save(models.conv())
        for isolation in ("process", "thread"):
            with Server("--max-samples-bytes", str(1 << 20), "--isolation", isolation) as server:
                result = octavo("optimize", path, "-o", self.folder / "out.onnx", "--data",
                                "random:1:100000", server=server.address)
                self.assert_fails(result, 7, "random:1:100000", "(max-samples-bytes)")
                self.assertTrue(server.alive())

    def test_a_small_model_that_needs_gigabytes(self):
        values = [f"v{i}" for i in range(6)]
        lines = ["graph(%x: tensor<1x1x64x1024xf32>) -> (%y) {",
                 "  const %shape = [16, 128, 64, 1024] : tensor<4xi64>"]
        lines += [f'  %{value} = Expand@"{value}"(%x, %shape) : tensor<16x128x64x1024xf32>'
                  for value in values]
        lines += [f"  %y = Sum({', '.join('%' + value for value in values)}) "
                  ": tensor<16x128x64x1024xf32>", "}", ""]
        path = self.folder / "expands.graph"
        path.write_text("\n".join(lines))
        for isolation in ("process", "thread"):
            with Server("--isolation", isolation) as server:
                result = octavo("optimize", path, "-o", self.folder / "out.onnx", "--data",
                                "random:1:1", server=server.address)
                self.assert_fails(result, 7, "'v0'", "(job-memory)", "536870912 bytes")
                self.assertTrue(server.alive())

    def test_truncated_file(self):
        self.refuse(models.conv().SerializeToString()[:-40], 3, "the model is cut off")

    def test_random_bytes(self):
        self.refuse(random.Random(1).randbytes(5000), 3, "not a valid ONNX model")

    def test_empty_file(self):
        self.refuse(b"", 3, "it has no graph")

    def test_cycle(self):
        self.refuse(models.cycle(), 3, "cycle")

    def test_missing_initializer(self):
        broken = models.conv()
        del broken.graph.initializer[:]
        self.refuse(broken, 3, "conv", "w")

    def test_value_defined_twice(self):
        self.refuse(models.defined_twice(), 3, "'y'")

    def test_weights_of_the_wrong_shape(self):
        self.refuse(models.conv(models.weight(channels_in=5)), 3, "conv", "5")

    def test_nan_weights(self):
        self.refuse(models.conv(models.weight(fill=np.nan)), 3, "'w'", "a NaN")

    def test_infinite_weights(self):
        self.refuse(models.conv(models.weight(fill=np.inf)), 3, "'w'", "an infinity")

    def test_scale_that_is_computed(self):
        data = self.folder / "two.npz"
        np.savez(data, x=np.zeros([1, 2, 4, 4], np.float32), scale=np.ones([1], np.float32))
        self.refuse(models.quantized(1.0, constant=False), 4, "quant", "scale",
                    flags=["--data", data, "--strict-ops"])

    def test_profile_of_another_model(self):
        profile = self.folder / "p.json"
        profile.write_text(json.dumps({"octavo_profile": 1, "model_digest": "sha256:" + "0" * 64,
                                       "values": [{"name": "x", "min": -1, "max": 1}]}))
        self.refuse(models.conv(), 3, "0000", flags=["--profile", profile, "--strict-profile"])

    def test_numerics_that_are_unknown(self):
        self.refuse(models.conv(), 2, "frob", flags=["--data", self.data, "--numerics", "frob"])

    def test_unknown_operator(self):
        self.refuse(models.relu_of("Frobnicate"), 4, "odd", "Frobnicate", flags=self.strict())

    def test_unknown_domain(self):
        self.refuse(models.relu_of("Relu", domain="com.example"), 4, "odd", "com.example",
                    flags=self.strict())

    def test_control_flow(self):
        self.refuse(models.branch(), 4, "choice", "If", flags=self.strict())

    def test_scale_of_zero(self):
        self.refuse(models.quantized(0.0), 3, "scale")

    def test_negative_scale(self):
        self.refuse(models.quantized(-1.0), 3, "scale")

    def test_scale_that_is_nan(self):
        self.refuse(models.quantized(np.nan), 3, "scale")

    def test_empty_profile(self):
        profile = self.folder / "p.json"
        profile.write_text(json.dumps({"octavo_profile": 1, "values": []}))
        self.refuse(models.conv(), 3, "no entries", flags=["--profile", profile])

    def test_profile_of_other_names(self):
        profile = self.folder / "p.json"
        profile.write_text(json.dumps(
            {"octavo_profile": 1, "values": [{"name": "elsewhere", "min": 0, "max": 1}]}))
        self.refuse(models.conv(), 3, "elsewhere", flags=["--profile", profile])

    def test_profile_that_is_no_json(self):
        profile = self.folder / "p.json"
        profile.write_text("{")
        self.refuse(models.conv(), 3, "not a JSON object", flags=["--profile", profile])

    def test_samples_of_the_wrong_shape(self):
        data = models.samples(self.folder / "wrong.npz", shape=[1, 3, 4, 4])
        self.refuse(models.conv(), 3, "'x' has shape [1,2,4,4]", flags=["--data", data])

    def test_samples_of_the_wrong_type(self):
        data = models.samples(self.folder / "wrong.npz", dtype=np.int64)
        self.refuse(models.conv(), 3, "'x' takes float32", flags=["--data", data])

    def test_samples_without_an_input(self):
        data = models.samples(self.folder / "wrong.npz", name="z")
        self.refuse(models.conv(), 3, "no array for input 'x'", flags=["--data", data])

    def test_samples_that_are_no_archive(self):
        data = self.folder / "wrong.npz"
        data.write_bytes(b"PK\x03\x04 and nothing else")
        self.refuse(models.conv(), 3, "not a zip archive", flags=["--data", data])

    def test_float_model_without_samples(self):
        self.refuse(models.conv(), 2, "--data", flags=[])

    def test_pass_that_is_not_there(self):
        self.refuse(models.conv(), 2, "frob", flags=["--data", self.data, "--skip", "frob"])

    def test_quantize_cannot_be_skipped(self):
        self.refuse(models.conv(), 2, "quantize", flags=["--data", self.data, "--skip", "quantize"])

    def test_more_nodes_than_the_service_allows(self):
        path = self.save(models.deep(501))
        result = octavo("optimize", path, "-o", self.folder / "o.onnx", "--data", self.data,
                        server=self.server.address)
        self.assert_fails(result, 7, "501 nodes", "500")
        self.assertTrue(self.server.alive())

    def test_larger_than_the_service_allows(self):
        big = models.conv(models.tensor("w", np.zeros([2048, 2, 17, 17])))
        result = octavo("optimize", self.save(big), "-o", self.folder / "o.onnx", "--data",
                        self.data, server=self.server.address)
        self.assert_fails(result, 7, "model")
        self.assertTrue(self.server.alive())

    def test_unknown_option(self):
        result = octavo("optimize", "m.onnx", "-o", "o.onnx", "--frobnicate")
        self.assertEqual(result.returncode, 2)
        self.assertIn("frobnicate", result.stderr)

    def test_missing_file(self):
        result = octavo("optimize", self.folder / "none.onnx", "-o", "o.onnx", "--data", self.data)
        self.assert_fails(result, 2, "none.onnx")

    def test_server_that_is_not_there(self):
        result = octavo("optimize", self.save(models.conv()), "-o", self.folder / "o.onnx",
                        "--data", self.data, "--retry-for", "1", server="127.0.0.1:9")
        self.assert_fails(result, 6, "127.0.0.1:9")
        self.assertIn("octavo: retry in 0.", result.stderr)

    def test_external_data_outside_the_folder(self):
        broken = models.conv()
        w = broken.graph.initializer[0]
        w.ClearField("raw_data")
        w.data_location = onnx.TensorProto.EXTERNAL
        w.external_data.add(key="location", value="../secret")
        self.refuse(broken, 3, "secret")

    def test_external_data_that_is_missing(self):
        broken = models.conv()
        w = broken.graph.initializer[0]
        w.ClearField("raw_data")
        w.data_location = onnx.TensorProto.EXTERNAL
        w.external_data.add(key="location", value="absent.bin")
        path = self.save(broken)
        for server in (None, self.server.address):
            result = octavo("optimize", path, "-o", self.folder / "o.onnx", "--data", self.data,
                            server=server)
            self.assert_fails(result, 2, "absent.bin")

    def test_error_as_json_names_the_node(self):
        path = self.save(models.relu_of("Frobnicate"))
        for server in (None, self.server.address):
            result = octavo("optimize", path, "-o", self.folder / "o.onnx", "--data", self.data,
                            "--strict-ops", "--json", server=server)
            self.assertEqual(result.returncode, 4)
            error = self.error_object(result)
            self.assertEqual(error["node"], "odd")
            self.assertEqual(error["code"], "UNIMPLEMENTED")

    def test_gate_that_fails_still_writes(self):
        for server in (None, self.server.address):
            out, report = self.folder / "gate.onnx", self.folder / "gate.json"
            result = octavo("optimize", DIGITS / "model.onnx", "-o", out, "--data",
                            DIGITS / "calibration.npz", "--require-sqnr", "99", "--report", report,
                            server=server)
            self.assert_fails(result, 5, "SQNR", "99")
            self.assertTrue(out.exists() and report.exists())
            out.unlink()
            report.unlink()


if __name__ == "__main__":
    unittest.main()
