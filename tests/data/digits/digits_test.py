# SPDX-License-Identifier: Apache-2.0
"""Every backward step agrees with differences of the forward step; every file is what it claims."""

import pathlib
import sys
import unittest

try:
    import numpy as np
    import onnx

    import layers
except ImportError as missing:
    print(missing)
    sys.exit(77)

FOLDER = pathlib.Path(__file__).parent


class Gradients(unittest.TestCase):
    """In float64, on a random projection of the output, so that one number is differentiated."""

    def check(self, layer, shape):
        generator = np.random.default_rng(1)
        x = generator.normal(size=shape)
        projection = generator.normal(size=layer.forward(x, True).shape)

        def value():
            return float((layer.forward(x, True) * projection).sum())

        value()
        gradient = np.array(layer.backward(projection))
        pairs = [(x, gradient)] + [(p, g.copy()) for p, g in
                                   zip(layer.parameters, layer.gradients)]
        for array, expected in pairs:
            for index in generator.choice(array.size, min(array.size, 12), replace=False):
                kept, step = array.flat[index], 1e-3
                array.flat[index] = kept + step
                above, after = value(), array.flat[index]
                array.flat[index] = kept - step
                slope = (above - value()) / (float(after) - float(array.flat[index]))
                array.flat[index] = kept
                self.assertAlmostEqual(slope, float(expected.flat[index]), delta=2e-3)

    def test_convolutions(self):
        generator = np.random.default_rng(2)
        self.check(layers.Convolution(generator, 3, 2, 3), (2, 4, 5, 2))
        self.check(layers.Convolution(generator, 1, 2, 3), (2, 4, 5, 2))

    def test_batch_norm(self):
        self.check(layers.BatchNorm(3), (4, 2, 2, 3))

    def test_pools_and_relu(self):
        self.check(layers.Relu(), (2, 3, 3, 2))
        self.check(layers.MaxPool(), (2, 4, 4, 2))
        self.check(layers.GlobalAverage(), (2, 3, 4, 2))

    def test_dense(self):
        self.check(layers.Dense(np.random.default_rng(3), 4, 3), (5, 4))

    def test_joins(self):
        generator = np.random.default_rng(4)
        self.check(layers.Residual(layers.Convolution(generator, 3, 2, 2)), (2, 3, 3, 2))
        self.check(layers.Branches(layers.Convolution(generator, 1, 2, 2), layers.Relu()),
                   (2, 3, 3, 2))


class Files(unittest.TestCase):
    def test_the_folder_is_small(self):
        self.assertLess((FOLDER / "model.onnx").stat().st_size, 300_000)
        self.assertLess(sum(f.stat().st_size for f in FOLDER.iterdir() if f.is_file()), 1 << 20)

    def test_samples_are_named_after_the_input(self):
        graph = onnx.load(str(FOLDER / "model.onnx")).graph
        self.assertEqual(["image"], [value.name for value in graph.input])
        for name, count in (("calibration.npz", 64), ("heldout.npz", 1000)):
            with np.load(FOLDER / name) as samples:
                self.assertEqual(["image"], list(samples))
                self.assertEqual((count, 1, 28, 28), samples["image"].shape)
                self.assertEqual(np.float32, samples["image"].dtype)

    def test_held_out_images_were_not_calibrated_on(self):
        calibration = np.load(FOLDER / "calibration.npz")["image"].reshape(64, -1)
        held_out = np.load(FOLDER / "heldout.npz")["image"].reshape(1000, -1)
        together = np.unique(np.concatenate([calibration, held_out]), axis=0)
        self.assertEqual(1064, len(together))

    def test_labels_are_digits_of_the_held_out_images(self):
        labels = np.load(FOLDER / "labels.npy")
        self.assertEqual((1000,), labels.shape)
        self.assertEqual(set(range(10)), set(labels.tolist()))

    def test_batch_norm_is_left_to_the_optimizer(self):
        graph = onnx.load(str(FOLDER / "model.onnx")).graph
        operators = [node.op_type for node in graph.node]
        for needed in ("BatchNormalization", "Add", "Concat", "GlobalAveragePool", "Gemm"):
            self.assertIn(needed, operators)


if __name__ == "__main__":
    unittest.main()
