# SPDX-License-Identifier: Apache-2.0
"""Layers of a small convolutional network in numpy, each with its forward and backward step.

Images are laid out [batch, height, width, channels], so that a convolution is one matrix product
over unfolded patches.  A layer keeps what its backward step needs from its last forward step, and
lists what is to be trained in `parameters` and `gradients`, in the same order.
"""

import numpy as np


def unfold(x, size):
    """Patches of size x size around every pixel, zero-padded to the same height and width."""
    pad = size // 2
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))
    return windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, size * size * x.shape[3])


def fold(patches, shape, size):
    """The adjoint of unfold: adds every patch back to where it was taken from."""
    batch, height, width, channels = shape
    pad = size // 2
    padded = np.zeros((batch, height + 2 * pad, width + 2 * pad, channels), patches.dtype)
    patches = patches.reshape(batch, height, width, size, size, channels)
    for row in range(size):
        for column in range(size):
            padded[:, row:row + height, column:column + width] += patches[:, :, :, row, column]
    return padded[:, pad:pad + height, pad:pad + width]


class Convolution:
    """Stride 1, same padding, no bias (a BatchNorm follows); weight is [size, size, in, out]."""

    def __init__(self, generator, size, inputs, outputs):
        spread = np.sqrt(2.0 / (size * size * inputs))
        self.size = size
        self.weight = generator.normal(0, spread, (size, size, inputs, outputs)).astype(np.float32)
        self.parameters = [self.weight]
        self.gradients = [np.zeros_like(self.weight)]
        self.decayed = [True]

    def forward(self, x, training):
        patches = unfold(x, self.size) if self.size > 1 else x.reshape(-1, x.shape[3])
        if training:
            self.shape, self.patches = x.shape, patches
        outputs = self.weight.shape[3]
        return (patches @ self.weight.reshape(-1, outputs)).reshape(x.shape[:3] + (outputs,))

    def backward(self, gradient):
        flat = gradient.reshape(-1, gradient.shape[3])
        self.gradients[0][...] = (self.patches.T @ flat).reshape(self.weight.shape)
        patches = flat @ self.weight.reshape(-1, flat.shape[1]).T
        if self.size == 1:
            return patches.reshape(self.shape)
        return fold(patches, self.shape, self.size)


class BatchNorm:
    """Normalizes each channel over the batch; in use, by running averages of the training."""

    EPSILON = 1e-5
    MOMENTUM = 0.1

    def __init__(self, channels):
        self.scale = np.ones(channels, np.float32)
        self.shift = np.zeros(channels, np.float32)
        self.mean = np.zeros(channels, np.float32)
        self.variance = np.ones(channels, np.float32)
        self.parameters = [self.scale, self.shift]
        self.gradients = [np.zeros_like(self.scale), np.zeros_like(self.shift)]
        self.decayed = [False, False]

    def forward(self, x, training):
        if not training:
            factor = self.scale / np.sqrt(self.variance + self.EPSILON)
            return (x - self.mean) * factor + self.shift
        mean = x.mean((0, 1, 2))
        variance = x.var((0, 1, 2))
        self.mean += self.MOMENTUM * (mean - self.mean)
        self.variance += self.MOMENTUM * (variance - self.variance)
        self.inverse = 1.0 / np.sqrt(variance + self.EPSILON)
        self.normalized = (x - mean) * self.inverse
        return self.normalized * self.scale + self.shift

    def backward(self, gradient):
        count = gradient.size // gradient.shape[3]
        self.gradients[0][...] = (gradient * self.normalized).sum((0, 1, 2))
        self.gradients[1][...] = gradient.sum((0, 1, 2))
        correction = (self.gradients[1] + self.normalized * self.gradients[0]) / count
        return (gradient - correction) * (self.scale * self.inverse)


class Relu:
    parameters = gradients = decayed = ()

    def forward(self, x, training):
        if training:
            self.mask = x > 0
        return np.maximum(x, 0)

    def backward(self, gradient):
        return gradient * self.mask


class MaxPool:
    """2x2 windows, stride 2; of equal values in a window each takes its share of the gradient."""

    parameters = gradients = decayed = ()

    def forward(self, x, training):
        batch, height, width, channels = x.shape
        windows = x.reshape(batch, height // 2, 2, width // 2, 2, channels)
        result = windows.max((2, 4))
        if training:
            hits = windows == result[:, :, None, :, None]
            self.share = hits / hits.sum((2, 4), keepdims=True, dtype=np.float32)
        return result

    def backward(self, gradient):
        spread = self.share * gradient[:, :, None, :, None]
        batch, height, _, width, _, channels = spread.shape
        return spread.reshape(batch, height * 2, width * 2, channels)


class GlobalAverage:
    parameters = gradients = decayed = ()

    def forward(self, x, training):
        self.shape = x.shape
        return x.mean((1, 2))

    def backward(self, gradient):
        _, height, width, _ = self.shape
        return np.broadcast_to(gradient[:, None, None] / np.float32(height * width), self.shape)


class Dense:
    """x @ weight + bias; weight is [in, out]."""

    def __init__(self, generator, inputs, outputs):
        spread = np.sqrt(1.0 / inputs)
        self.weight = generator.normal(0, spread, (inputs, outputs)).astype(np.float32)
        self.bias = np.zeros(outputs, np.float32)
        self.parameters = [self.weight, self.bias]
        self.gradients = [np.zeros_like(self.weight), np.zeros_like(self.bias)]
        self.decayed = [True, False]

    def forward(self, x, training):
        self.x = x
        return x @ self.weight + self.bias

    def backward(self, gradient):
        self.gradients[0][...] = self.x.T @ gradient
        self.gradients[1][...] = gradient.sum(0)
        return gradient @ self.weight.T


class Chain:
    """Layers one after another."""

    def __init__(self, *layers):
        self.layers = layers
        self.parameters = [p for layer in layers for p in layer.parameters]
        self.gradients = [g for layer in layers for g in layer.gradients]
        self.decayed = [d for layer in layers for d in layer.decayed]

    def forward(self, x, training):
        for layer in self.layers:
            x = layer.forward(x, training)
        return x

    def backward(self, gradient):
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
        return gradient


class Residual(Chain):
    """x + inner(x)."""

    def forward(self, x, training):
        return x + super().forward(x, training)

    def backward(self, gradient):
        return gradient + super().backward(gradient)


class Branches:
    """The channels of every branch, side by side."""

    def __init__(self, *branches):
        self.branches = branches
        self.parameters = [p for branch in branches for p in branch.parameters]
        self.gradients = [g for branch in branches for g in branch.gradients]
        self.decayed = [d for branch in branches for d in branch.decayed]

    def forward(self, x, training):
        results = [branch.forward(x, training) for branch in self.branches]
        self.borders = np.cumsum([result.shape[3] for result in results])[:-1]
        return np.concatenate(results, 3)

    def backward(self, gradient):
        parts = np.split(gradient, self.borders, 3)
        return sum(branch.backward(part) for branch, part in zip(self.branches, parts))
