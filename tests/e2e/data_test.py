#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every form of --data, images, labels and their limits, in process and in a service."""

import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import unittest
import zlib

import models
import numpy as np
import onnx
from images import jpeg, png
from onnx import helper
from programs import DIGITS, OCTAVO, ROOT, Case, Server, clean_environment, octavo

PAGE = ROOT / "docs" / "data.md"
LIMIT = 300 << 20  # bytes of memory that 10,000 images may need


def image_model(path, side=64, batch=1):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], strides=[8, 8]),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("GlobalAveragePool", ["r"], ["y"])]
    weight = models.tensor("w", np.random.default_rng(0).normal(size=(4, 3, 3, 3)))
    onnx.save(models.model(nodes, [weight], inputs=(("x", [batch, 3, side, side]),)), path)
    return path


class Data(Case):
    def setUp(self):
        super().setUp()
        self.images = np.load(DIGITS / "calibration.npz")["image"][:32]

    def path(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def save(self, name, array):
        np.save(self.path(name), array)

    def optimize(self, *data, model=DIGITS / "model.onnx", server=None, **more):
        """The bytes of the result, but for what it says of the samples' files."""
        out = self.folder / "out.onnx"
        flags = [word for each in data for word in ("--data", each)]
        flags += [word for key, value in more.items()
                  for word in (["--" + key] if value is True else ["--" + key, value])]
        result = octavo("optimize", model, *flags, "-o", out, "--quiet", server=server)
        self.assertEqual(result.returncode, 0, result.stderr)
        return models.without_stamp(out.read_bytes())

    # ------------------------------------------------------------ forms

    def write_forms(self):
        np.savez(self.path("all.npz"), image=self.images)
        np.savez_compressed(self.path("packed.npz"), image=self.images)
        self.save("all.npy", self.images)
        self.save("fortran.npy", np.asfortranarray(self.images))
        self.save("double.npy", self.images.astype(np.float64))
        for i, image in enumerate(self.images):
            self.save(f"flat/{i:03}.npy", image)
            self.save(f"numbered/{i}/image.npy", image[None])
            self.save(f"numbered/{i}/output_0.npy", np.zeros(3))
            self.save(f"test_data/test_data_set_{i}/input_0.npy", image[None])
            np.savez(self.path(f"archives/{i:03}.npz"), image=image[None])
            self.path(f"images/{i // 10}/{i:03}.png").write_bytes(
                png(np.rint(image[0] * 255).astype(np.uint8)))

    def test_every_form_of_the_same_samples_gives_the_same_bytes(self):
        self.write_forms()
        at = self.folder
        want = self.optimize(at / "all.npz")
        for data in ("packed.npz", "all.npy", "fortran.npy", "flat", "flat/*.npy", "numbered",
                     "numbered/*/image.npy", "test_data", "archives"):
            self.assertEqual(self.optimize(at / data), want, data)
        self.assertEqual(self.optimize(f"image={at}/all.npy"), want)
        self.assertEqual(self.optimize(f"image={at}/flat"), want)
        self.assertEqual(self.optimize(at / "double.npy", cast=True), want)
        self.assertEqual(self.optimize(at / "images", image="size=28"), want)
        np.savez(at / "first.npz", image=self.images[:20])
        np.save(at / "rest.npy", self.images[20:])
        self.assertEqual(self.optimize(at / "first.npz", at / "rest.npy"), want)
        np.save(at / "more.npy", np.concatenate([self.images, self.images]))
        self.assertEqual(self.optimize(at / "more.npy", samples=32), want)

    def test_cast_converts_float64_and_uint8_and_names_what_does_not_fit(self):
        self.save("whole.npy", np.rint(self.images * 255))
        self.save("double.npy", np.rint(self.images * 255).astype(np.float64))
        self.save("bytes.npy", np.rint(self.images * 255).astype(np.uint8))
        want = self.optimize(self.folder / "whole.npy")
        for name in ("double.npy", "bytes.npy"):
            result = octavo("optimize", DIGITS / "model.onnx", "--data", self.folder / name,
                            "-o", self.folder / "x.onnx")
            self.assert_fails(result, 3, "--cast converts it")
            self.assertEqual(self.optimize(self.folder / name, cast=True), want, name)
        self.save("huge.npy", self.images.astype(np.float64) + 1e300)
        result = octavo("optimize", DIGITS / "model.onnx", "--data", self.folder / "huge.npy",
                        "--cast", "-o", self.folder / "x.onnx")
        self.assert_fails(result, 3, "huge.npy")

    def test_standard_input_is_an_npz_or_an_npy(self):
        self.write_forms()
        want = self.optimize(self.folder / "all.npz")
        out = self.folder / "piped.onnx"
        for name in ("all.npz", "all.npy"):
            with open(self.folder / name, "rb") as data:
                subprocess.run([OCTAVO, "optimize", DIGITS / "model.onnx", "--data", "-", "-o", out,
                                "--quiet"], stdin=data, env=clean_environment(), check=True)
            self.assertEqual(models.without_stamp(out.read_bytes()), want)
        result = subprocess.run([OCTAVO, "optimize", DIGITS / "model.onnx", "--data", "-", "-o", out],
                                input="hello", capture_output=True, text=True, check=False,
                                env=clean_environment())
        self.assert_fails(result, 3, "neither .npz nor .npy")

    def test_a_service_reads_every_form_as_this_process_does(self):
        self.write_forms()
        at = self.folder
        want = self.optimize(at / "all.npz")
        for i in range(300):
            self.save(f"many/{i:03}.npy", self.images[i % 32])
        self.save("many.npy", self.images[np.arange(300) % 32])
        with Server() as server:
            for data in ("flat", "numbered", "archives"):
                self.assertEqual(self.optimize(at / data, server=server.address), want, data)
            self.assertEqual(self.optimize(at / "images", image="size=28",
                                           server=server.address), want)
            self.assertEqual(self.optimize(at / "all.npy",
                                           samples=32, server=server.address), want)
            # More files than a request names: they come as one archive.
            self.assertEqual(self.optimize(at / "many", server=server.address),
                             self.optimize(at / "many.npy"))

    def test_what_is_wrong_is_named(self):
        self.write_forms()
        at, model = self.folder, DIGITS / "model.onnx"

        def fails(code, *words, data, **more):
            flags = [word for key, value in more.items() for word in ("--" + key, value)]
            result = octavo("optimize", model, "--data", data, "-o", at / "x.onnx", *flags)
            self.assert_fails(result, code, *words)

        fails(2, "cannot be found", data=at / "nothing")
        fails(2, "matches no file", data=at / "flat/*.npz")
        fails(2, "--image says how", data=at / "images")
        fails(2, "'sise' is not a key", data=at / "images", image="sise=3")
        fails(2, "at least 1", data=at / "flat", samples="0")
        fails(3, "float64", "--cast converts it", data=at / "double.npy")
        fails(3, "12 labels, but 32 samples", data=at / "flat",
              labels=self.labels("few.npy", range(12)))
        (at / "empty").mkdir()
        fails(2, "has no samples", data=at / "empty")
        whole = (at / "images/0/003.png").read_bytes()
        (at / "images/0/003.png").write_bytes(whole[:-40])
        fails(3, "0/003.png", "damaged", data=at / "images", image="size=28")
        huge = bytearray(png(np.zeros((4, 4), np.uint8)))
        huge[16:24] = struct.pack(">II", 900_000, 900_000)
        huge[29:33] = struct.pack(">I", zlib.crc32(huge[12:29]))
        (at / "images/0/003.png").write_bytes(huge)
        fails(7, "0/003.png", "900000 x 900000", data=at / "images", image="size=28")

    # ------------------------------------------------------------ images

    def test_a_toml_or_yaml_file_says_what_the_flag_says(self):
        self.write_forms()
        images = self.folder / "images"
        want = self.optimize(images, image="size=28,resize=30,crop=center,mean=0.1,std=0.5")
        self.assertNotEqual(self.optimize(images, image="size=28"), want)
        files = {
            "table.toml": '# as in training\n[image]\nsize = "28x28"\nresize = 30\n'
                          'crop = "center"\nmean = [0.1]\nstd = 0.5\n[model]\nsize = 3\n',
            "top.toml": 'size = 28\nresize = 30\ncrop = "center"\nmean = 0.1\nstd = 0.5\n',
            "map.yaml": "# as in training\nimage:\n  size: 28x28\n  resize: 30\n  crop: center\n"
                        "  mean: [0.1]\n  std:\n  - 0.5\nmodel:\n  size: 3\n",
            "top.yml": "{size: 28, resize: 30, crop: center, mean: 0.1, std: 0.5}\n",
        }
        for name, text in files.items():
            (self.folder / name).write_text(text)
            self.assertEqual(self.optimize(images, image=self.folder / name), want, name)

    def test_what_is_wrong_in_such_a_file_is_named_with_the_file(self):
        self.write_forms()
        for name, text, word in (("a.toml", "sise = 28\n", "'sise' is not a key"),
                                 ("a.toml", "# nothing\n", "has no keys"),
                                 ("a.yaml", "sise: 28\n", "'sise' is not a key"),
                                 ("b.yaml", "size: 28\ncrop: middle\n", "crop=middle must be one of"),
                                 ("c.yaml", "size: [28\n", "is not YAML"),
                                 ("d.yaml", "- size\n", "has no keys"),
                                 ("e.yaml", "mean: [[0.1]]\n", "list of lists")):
            (self.folder / name).write_text(text)
            result = octavo("optimize", DIGITS / "model.onnx", "--data", self.folder / "images",
                            "--image", self.folder / name, "-o", self.folder / "x.onnx")
            self.assert_fails(result, 2, word, f"{self.folder / name}'")

    def test_bgr_layout_and_crop_are_what_they_say(self):
        model = image_model(self.folder / "m.onnx", side=8)
        pixels = np.random.default_rng(0).integers(0, 256, (8, 12, 3), np.uint8)
        self.path("one/0.png").write_bytes(png(pixels))
        crop = pixels[:, 2:10].astype(np.float64)
        mean, std = np.array([1., 2., 3.]), np.array([4., 5., 6.])
        np.save(self.folder / "bgr.npy",
                ((crop[..., ::-1] - mean) / std).astype(np.float32).transpose(2, 0, 1)[None])
        for data, image in (("one", "size=8,crop=center,scale=1,order=BGR,layout=NCHW,"
                                    "mean=1,2,3,std=4,5,6"), ("bgr.npy", None)):
            flags = ["--image", image] if image else []
            result = octavo("run", model, "--data", self.folder / data, "-o",
                            self.folder / f"out-{data}", "--quiet", *flags)
            self.assertEqual(result.returncode, 0, result.stderr)
        np.testing.assert_array_equal(*(np.load(self.folder / f"out-{data}" / "y.npy")
                                        for data in ("one", "bgr.npy")))

    def test_image_without_an_image_is_a_warning(self):
        result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "--image", "mean=0.5", "-o", self.folder / "x.onnx")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("[image_unused]", result.stderr)
        self.write_forms()
        result = octavo("optimize", DIGITS / "model.onnx", "--data", self.folder / "images",
                        "--image", "mean=0.5", "-o", self.folder / "x.onnx")
        self.assertNotIn("[image_unused]", result.stderr)

    def test_images_in_formats_that_are_not_read_are_a_warning_or_an_error(self):
        model = image_model(self.folder / "m.onnx", side=8)
        for name in ("mixed/b.webp", "mixed/sub/c.GIF", "mixed/a.TIFF", "other/x.bmp"):
            self.path(name).write_bytes(b"none of these is read")
        self.path("mixed/z.png").write_bytes(png(np.zeros((8, 8, 3), np.uint8)))
        arguments = ["optimize", model, "--image", "size=8", "-o", self.folder / "x.onnx", "--data"]
        with Server() as service:
            for server in (None, service.address):
                result = octavo(*arguments, self.folder / "mixed", server=server)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("3 images, the first of them 'a.TIFF', are not read: only PNG and "
                              "JPEG are [unknown_name]", result.stderr)
        result = octavo(*arguments, self.folder / "other")
        self.assert_fails(result, 2, "has no samples: image 'x.bmp' is not read")

    def test_errors_of_data_name_the_file_and_what_is_missing(self):
        name = "image"
        np.savez(self.path("empty.npz"), **{name: np.zeros((0, 1, 28, 28), np.float32)})
        result = octavo("optimize", DIGITS / "model.onnx", "--data", self.folder / "empty.npz", "-o",
                        self.folder / "x.onnx")
        self.assert_fails(result, 3, "there are no samples", f"'{name}'")
        result = octavo("optimize", DIGITS / "model.onnx", "--data",
                        f"imag={DIGITS / 'calibration.npz'}", "-o", self.folder / "x.onnx")
        self.assert_fails(result, 3, "calibration.npz", f"'{name}'", "did you mean 'imag'?")

    def test_png_and_jpeg_of_any_size_feed_a_model_with_a_fixed_batch(self):
        model = image_model(self.folder / "m.onnx", batch=4)
        random = np.random.default_rng(0)
        for i in range(7):
            self.path(f"pictures/{i}.png").write_bytes(
                png(random.integers(0, 256, (40 + i, 90 - i, 3), np.uint8)))
        self.path("pictures/7.jpeg").write_bytes(
            jpeg(random.integers(0, 256, (33, 71, 3), np.uint8)))
        report = self.folder / "r.json"
        self.optimize(self.folder / "pictures", model=model, image="order=BGR,crop=center",
                      report=report)
        self.assertEqual(json.loads(report.read_text())["numerics"]["samples"], 8)

    def many_images(self):
        random = np.random.default_rng(0)
        folder = self.folder / "many"
        folder.mkdir()
        for i in range(16):
            (folder / f"{i:05}.png").write_bytes(
                png(random.integers(0, 256, (64, 64, 3), np.uint8)))
        for i in range(16, 10_000):
            os.link(folder / f"{i % 16:05}.png", folder / f"{i:05}.png")
        return folder

    def test_10000_images_stay_under_300_mb(self):
        model, folder = image_model(self.folder / "m.onnx"), self.many_images()
        out, report = self.folder / "out.onnx", self.folder / "r.json"
        arguments = ["optimize", model, "--data", folder, "--image", "size=64", "-o", out,
                     "--report", report, "--quiet"]
        process = subprocess.Popen([OCTAVO, *map(str, arguments)], env=clean_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        numerics = json.loads(report.read_text())["numerics"]
        self.assertEqual((numerics["samples"], numerics["calibration_samples"]), (2_500, 7_500))
        self.assertLess(usage.ru_maxrss * 1024, LIMIT)

    def test_a_stop_is_heard_while_samples_are_read(self):
        np.savez_compressed(self.path("large.npz"), x=np.zeros((4, 3, 2400, 2400), np.float32))
        model = image_model(self.folder / "m.onnx", side=2400)
        process = subprocess.Popen(
            [OCTAVO, "optimize", model, "--data", self.folder / "large.npz", "-o",
             self.folder / "out.onnx", "--quiet"], env=clean_environment(), stderr=subprocess.PIPE)
        time.sleep(0.4)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 8)
        self.assertLess(time.monotonic() - begin, 2)  # the process ends, too

    def cpu_of(self, process):
        """Seconds of processor time of all threads of a running process."""
        threads = pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9

    def test_a_stop_is_heard_while_one_sample_of_200_mb_is_drawn_and_counted(self):
        """It must be within 100 ms.  The bound is 400 ms of processor time: machines may be busy."""
        size = 50_000_000
        nodes = [helper.make_node("Slice", ["x", "begin", "end", "axis"], ["s"]),
                 helper.make_node("Relu", ["s"], ["y"])]
        numbers = [models.tensor(name, [value], np.int64)
                   for name, value in (("begin", 0), ("end", 4), ("axis", 1))]
        onnx.save(models.model(nodes, numbers, inputs=(("x", [1, size]),)), self.path("m.onnx"))
        heard = 0
        for moment in (0.2, 0.5, 0.8, 1.1):  # seconds of processor time
            process = subprocess.Popen(
                [OCTAVO, "optimize", self.folder / "m.onnx", "--data", "random:1:1", "-o",
                 self.folder / "out.onnx", "--quiet"], env=clean_environment())
            while process.poll() is None and self.cpu_of(process) < moment:
                time.sleep(0.005)
            if process.poll() is not None:
                break
            begin = self.cpu_of(process)
            process.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 8)
            self.assertLess(usage.ru_utime + usage.ru_stime - begin, 0.4, moment)
            heard += 1
        self.assertGreater(heard, 0)

    # ------------------------------------------------------------ labels

    def labels(self, name, classes):
        path = self.path(name)
        np.save(path, np.array(list(classes), np.int64))
        return path

    def test_labels_give_top1_and_top5_and_the_report_says_of_which_set(self):
        at, int8, report = self.folder, self.folder / "int8.onnx", self.folder / "r.json"
        result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "heldout.npz",
                        "--labels", DIGITS / "labels.npy", "-o", int8, "--report", report,
                        "--holdout", "none", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        numerics = json.loads(report.read_text())["numerics"]
        self.assertEqual(numerics["samples_role"], "calibration")
        labels = np.load(DIGITS / "labels.npy").reshape(-1)
        for model, end in ((int8, ""), (DIGITS / "model.onnx", "_float")):
            octavo("run", model, "--data", DIGITS / "heldout.npz", "-o", at / "out", "--quiet")
            order = np.argsort(-np.load(at / "out/logits.npy"), axis=1, kind="stable")
            hits = order == labels[:, None]
            self.assertAlmostEqual(numerics["accuracy"]["top1" + end], hits[:, :1].sum() / 1000)
            self.assertAlmostEqual(numerics["accuracy"]["top5" + end], hits[:, :5].sum() / 1000)
        result = octavo("diff", DIGITS / "model.onnx", int8, "--data", DIGITS / "heldout.npz",
                        "--labels", DIGITS / "labels.npy", "--samples", 100)
        again = json.loads(result.stdout)["numerics"]
        self.assertEqual(again["samples_role"], "evaluation")
        self.assertEqual(again["accuracy"]["samples"], 100)

    def test_without_labels_there_is_no_accuracy_and_a_wrong_label_is_named(self):
        report, at = self.folder / "r.json", self.folder
        self.optimize(DIGITS / "calibration.npz", report=report)
        self.assertIsNone(json.loads(report.read_text())["numerics"]["accuracy"])
        result = octavo("optimize", DIGITS / "model.onnx", "--data", DIGITS / "calibration.npz",
                        "--labels", self.labels("l.npy", [3] * 63 + [10]), "-o", at / "x.onnx")
        self.assert_fails(result, 3, "sample 63 is 10", "10 classes")
        result = octavo("optimize", DIGITS / "model.onnx", "--labels", at / "l.npy",
                        "-o", at / "x.onnx")
        self.assert_fails(result, 2, "--labels needs --data")

    # ------------------------------------------------------------ the page

    def test_the_blocks_of_the_page_run(self):
        at = self.folder / "page"
        at.mkdir()
        for name in ("model.onnx", "calibration.npz", "heldout.npz", "labels.npy"):
            (at / name).symlink_to(DIGITS / name)
        np.save(at / "double.npy", self.images.astype(np.float64))
        for i, image in enumerate(self.images):
            self.save(f"page/arrays/{i:03}.npy", image)
            self.save(f"page/numbered/{i}/image.npy", image[None])
            self.path(f"page/images/{i:03}.png").write_bytes(
                png(np.rint(image[0] * 255).astype(np.uint8)))
        blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
        self.assertEqual(len(blocks), 4)
        path = f"{pathlib.Path(OCTAVO).resolve().parent}:{os.environ['PATH']}"
        subprocess.run(["sh", "-eu", "-c", "\n".join(blocks)], cwd=at, check=True,
                       env=clean_environment(PATH=path))


if __name__ == "__main__":
    unittest.main()
