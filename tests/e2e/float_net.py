# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network in numpy: its weights, and every value's range over samples, from
which the foreign quantized models take their scales."""

import numpy as np

SAMPLES = 6
IMAGE = (3, 12, 12)
PADS = [1, 1, 1, 1]


def weights():
    random = np.random.default_rng(5)
    shapes = {"w1": (8, 3, 3, 3), "w2": (8, 8, 3, 3), "w3": (8, 4, 2, 2), "w4": (12, 5)}
    made = {name: random.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
            for name, shape in shapes.items()}
    for number, count in enumerate((8, 8, 4, 5), 1):
        made[f"b{number}"] = random.normal(0, 0.2, count)
    return {name: value.astype(np.float32) for name, value in made.items()}


def images():
    return np.random.default_rng(6).uniform(-1, 1, (SAMPLES, *IMAGE)).astype(np.float32)


def conv(x, w, b):
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None]


def conv_transpose(x, w, b):
    """Kernel and stride 2."""
    n, _, h, wide = x.shape
    spread = np.einsum("nchw,coij->nohiwj", x, w)
    return spread.reshape(n, w.shape[1], 2 * h, 2 * wide) + b[:, None, None]


def pool(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


def values(relu=lambda x: np.maximum(x, 0)):
    """Every value of the network by name."""
    w = weights()
    v = {"x": images()}
    v["c1"] = conv(v["x"], w["w1"], w["b1"])
    v["r1"] = relu(v["c1"])
    v["p1"] = pool(v["r1"])
    v["c2"] = conv(v["p1"], w["w2"], w["b2"])
    v["a"] = v["c2"] + v["p1"]
    v["r2"] = relu(v["a"])
    v["t"] = conv_transpose(v["r2"], w["w3"], w["b3"])
    v["k"] = np.concatenate([v["t"], v["r1"]], 1)
    v["g"] = v["k"].mean((2, 3), keepdims=True)
    v["f"] = v["g"][:, :, 0, 0]
    v["y"] = v["f"] @ w["w4"] + w["b4"]
    return v
