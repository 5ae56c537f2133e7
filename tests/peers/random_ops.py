# SPDX-License-Identifier: Apache-2.0
"""The steps of random_graphs.py: each function draws operands of a graph, appends one operator (or
a few) and returns the names of the results; None where no value fits.  STEPS lists them with
weights.  Operands, groups, forms of biases, constants and attributes are drawn; scales are chosen
so that values stay around 1."""

import numpy as np

UNARY = ["Relu", "Sigmoid", "Tanh", "HardSigmoid", "Abs", "Neg", "Exp", "Softplus", "Elu",
         "LeakyRelu", "Sqrt", "Erf", "Identity"]


def pick(graph, fits=lambda shape: True):
    """A value whose shape fits; recent values are more likely."""
    names = [name for name in graph.values if fits(graph.shape(name))]
    if not names:
        return None
    return names[-1] if graph.chance(0.6) else graph.choose(names)


def ints(graph, values):
    return graph.constant(values, np.int64)


def image(shape):
    return 3 <= len(shape) <= 5 and min(shape[2:]) >= 3


def bias_of(graph, channels, forms):
    form = graph.choose(forms)
    return graph.normal([channels if extent == "n" else extent for extent in form], 0.3)


def conv(graph):
    x = pick(graph, image)
    if x is None:
        return None
    shape, rank = graph.shape(x), len(graph.shape(x)) - 2
    group = graph.choose([g for g in (1, 1, 2, shape[1]) if shape[1] % g == 0])
    channels = group * graph.choose([1, 2, 4])
    kernel = graph.choose([1, 3])
    operands = [x, graph.normal([channels, shape[1] // group, *[kernel] * rank],
                                (shape[1] // group * kernel**rank) ** -0.5)]
    if graph.chance(0.7):
        operands.append(graph.normal([channels], 0.3))
    return [graph.op("Conv", *operands, group=group, strides=[graph.choose([1, 1, 2])] * rank,
                     pads=[graph.choose([0, kernel // 2])] * 2 * rank)]


def conv_transpose(graph):
    x = pick(graph, lambda shape: image(shape) and len(shape) == 4)
    if x is None:
        return None
    channels_in = graph.shape(x)[1]
    group = graph.choose([g for g in (1, 2, channels_in) if channels_in % g == 0])
    channels = graph.choose([1, 2, 3])
    operands = [x, graph.normal([channels_in, channels, 2, 2], 0.5)]
    if graph.chance(0.7):
        operands.append(graph.normal([channels * group], 0.3))
    return [graph.op("ConvTranspose", *operands, group=group, strides=[graph.choose([1, 2])] * 2)]


def gemm(graph):
    x = pick(graph, lambda shape: len(shape) >= 2 and np.prod(shape[1:]) <= 512)
    if x is None:
        return None
    if len(graph.shape(x)) > 2:
        x = graph.op("Flatten", x, axis=1)
    rows, width = graph.shape(x)
    channels, turned = graph.choose([1, 3, 10]), graph.choose([0, 1])
    weights = graph.random.normal(0, width**-0.5, [width, channels])
    weights *= graph.random.uniform(0.1, 2, channels)
    operands = [x, graph.constant(weights.T if turned else weights)]
    attributes = {"transB": turned}
    if graph.chance(0.85) or graph.opset < 11:
        operands.append(bias_of(graph, channels, [["n"], ["n"], [1], [], [1, "n"], [rows, 1],
                                                  [rows, "n"], [1, 1]]))
        if graph.chance(0.2):
            attributes["beta"] = 0.5
    if graph.chance(0.2):
        attributes["alpha"] = 0.5
    return [graph.op("Gemm", *operands, **attributes)]


def mat_mul(graph):
    x = pick(graph, lambda shape: len(shape) >= 2)
    if x is None:
        return None
    width, channels = graph.shape(x)[-1], graph.choose([1, 4, 6])
    if graph.chance(0.2):
        rows = graph.shape(x)[-2]
        return [graph.op("MatMul", graph.normal([channels, rows], rows**-0.5), x)]
    if graph.chance(0.2):
        axes = list(range(len(graph.shape(x))))
        return [graph.op("MatMul", x, graph.op("Transpose", x, perm=[*axes[:-2], axes[-1],
                                                                     axes[-2]]))]
    product = graph.op("MatMul", x, graph.normal([width, channels], width**-0.5))
    return [graph.op("Add", product, graph.normal([channels], 0.3))] if graph.chance(0.5) else \
        [product]


def broadcastable(graph, shape):
    """A shape that broadcasts to `shape`: extents are cut to 1, leading axes left out."""
    cut = [extent if graph.chance(0.5) else 1 for extent in shape]
    return cut[int(graph.random.integers(len(cut) + 1)):]


def binary(graph):
    x = pick(graph)
    shape = graph.shape(x)
    kind = graph.choose(["Add", "Add", "Sub", "Mul", "Div", "Max", "Min"])
    others = [name for name in graph.values if graph.shape(name) == shape]
    if graph.chance(0.5):
        drawn = graph.random.normal(0, 1, broadcastable(graph, shape))
        other = graph.constant(np.abs(drawn) + 0.5 if kind == "Div" else drawn)
        swap = kind != "Div" and graph.chance(0.4)
    elif kind == "Div":
        other, swap = graph.op("Exp", graph.op("Tanh", graph.choose(others))), False
    else:
        other, swap = graph.choose(others), False
    return [graph.op(kind, *([other, x] if swap else [x, other]))]


def unary(graph):
    x = pick(graph)
    kind = graph.choose(UNARY)
    if kind in ("Exp", "Softplus"):
        x = graph.op("Tanh", x)
    if kind == "Sqrt":
        x = graph.op("Sigmoid", x)
    attributes = {"alpha": 0.1} if kind == "LeakyRelu" else {}
    return [graph.op(kind, x, **attributes)]


def clip(graph):
    x = pick(graph)
    if graph.opset < 11:
        return [graph.op("Clip", x, min=-0.5, max=6.0)]
    return [graph.op("Clip", x, graph.constant(graph.choose([0, -0.5])), graph.constant(6))]


def softmax(graph):
    x = pick(graph, lambda shape: len(shape) >= 2)
    if x is None:
        return None
    if graph.chance(0.3):  # logits that span little
        x = graph.op("Mul", x, graph.constant(graph.choose([1e-4, 1e-2])))
    axis = len(graph.shape(x)) - 1 if graph.chance(0.6) else 1
    return [graph.op("Softmax", x, axis=axis)]


def pool(graph):
    x = pick(graph, image)
    if x is None:
        return None
    rank, kind = len(graph.shape(x)) - 2, graph.choose(["MaxPool", "AveragePool"])
    kernel = graph.choose([2, 3])
    attributes = {"kernel_shape": [kernel] * rank, "strides": [graph.choose([1, 2])] * rank,
                  "pads": [graph.choose([0, 1])] * 2 * rank}
    if graph.chance(0.4):
        attributes["ceil_mode"] = 1
    if kind == "AveragePool" and graph.chance(0.4):
        attributes["count_include_pad"] = 1
    if graph.chance(0.2) and (kind == "MaxPool" or graph.opset >= 19):
        attributes["dilations"] = [2] * rank
        attributes["kernel_shape"] = [2] * rank
    y = graph.op(kind, x, **attributes)
    if "ceil_mode" in attributes:
        drop_windows_in_padding(graph.shape(x), graph.shape(y), attributes)
    return [y]


def drop_windows_in_padding(given, result, attributes):
    """ONNX's shape inference used to count windows that would begin in the padding at the end,
    which the operators do not have."""
    for axis, stride in enumerate(attributes["strides"], start=2):
        if (result[axis] - 1) * stride >= given[axis] + attributes["pads"][axis - 2]:
            result[axis] -= 1


def global_pool(graph):
    x = pick(graph, image)
    return x and [graph.op(graph.choose(["GlobalAveragePool", "GlobalMaxPool"]), x)]


def reduce(graph):
    x = pick(graph, lambda shape: len(shape) >= 2)
    if x is None:
        return None
    kind = graph.choose(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"])
    axis, keep = len(graph.shape(x)) - 1, graph.choose([0, 1])
    if len(graph.shape(x)) == 2:
        keep = 1
    if graph.opset >= (13 if kind == "ReduceSum" else 18):
        return [graph.op(kind, x, ints(graph, [axis]), keepdims=keep)]
    return [graph.op(kind, x, axes=[axis], keepdims=keep)]


def variance(graph):
    """E[x^2] - E[x]^2 over the last axis, as exporters write it, and 1 / Sqrt of it.  It amplifies
    what differs by one LSB, so x is an input of the model, which both sides quantize to equal
    bits; Max makes its elements close to each other and rounds nothing."""
    x = graph.choose(graph.inputs)
    shape = graph.shape(x)
    if len(shape) < 2 or shape[-1] < 4:
        return None
    near = graph.op("Max", x, graph.constant(graph.choose([0, 1, 2])))

    def mean(values):
        if graph.opset < 13 or graph.chance(0.5):
            axes = [ints(graph, [len(shape) - 1])] if graph.opset >= 18 else []
            return graph.op("ReduceMean", values, *axes,
                            **({} if axes else {"axes": [len(shape) - 1]}))
        total = graph.op("ReduceSum", values, ints(graph, [len(shape) - 1]))
        return graph.op("Mul", total, graph.constant(1 / shape[-1]))

    of_squares, of_values = mean(graph.op("Mul", near, near)), mean(near)
    spread = graph.op("Sub", of_squares, graph.op("Mul", of_values, of_values))
    floor = graph.op("Max", spread, graph.constant(0))
    root = graph.op("Sqrt", graph.op("Add", floor, graph.constant(1e-4)))
    return [graph.op("Reciprocal", root)]


def concat(graph):
    x = pick(graph, lambda shape: len(shape) >= 2)
    if x is None:
        return None
    shape = graph.shape(x)
    axis = int(graph.random.integers(1, len(shape)))
    fits = [name for name in graph.values
            if len(graph.shape(name)) == len(shape) and graph.shape(name)[:axis] == shape[:axis]
            and graph.shape(name)[axis + 1:] == shape[axis + 1:]]
    operands = [x] + [graph.choose(fits) for _ in range(graph.choose([0, 1, 2]))]
    if graph.chance(0.4):
        operands.insert(int(graph.random.integers(len(operands) + 1)), graph.normal(shape))
    return [graph.op("Concat", *operands, axis=axis)]


def split(graph):
    x = pick(graph, lambda shape: len(shape) >= 2 and shape[1] % 2 == 0)
    if x is None:
        return None
    half = [graph.shape(x)[1] // 2] * 2
    if graph.opset >= 13:
        return graph.op("Split", x, ints(graph, half), results=2, axis=1)
    return graph.op("Split", x, results=2, axis=1, split=half)


def reshape(graph):
    x = pick(graph, lambda shape: len(shape) >= 2)
    if x is None:
        return None
    shape = graph.shape(x)
    kind = graph.choose(["Reshape", "Flatten", "Transpose", "Unsqueeze"])
    if kind == "Reshape":
        return [graph.op("Reshape", x, ints(graph, [shape[0], -1] if graph.chance(0.5)
                                            else [shape[0], *shape[:0:-1]]))]
    if kind == "Flatten":
        return [graph.op("Flatten", x, axis=1)]
    if kind == "Transpose":
        return [graph.op("Transpose", x, perm=[0, *(1 + graph.random.permutation(
            len(shape) - 1)).tolist()])]
    if len(shape) > 4:
        return None
    if graph.opset >= 13:
        return [graph.op("Unsqueeze", x, ints(graph, [1]))]
    return [graph.op("Unsqueeze", x, axes=[1])]


def cut(graph):
    x = pick(graph, lambda shape: len(shape) >= 2 and shape[1] >= 2)
    if x is None:
        return None
    shape = graph.shape(x)
    if graph.chance(0.5):
        return [graph.op("Slice", x, ints(graph, [int(graph.chance(0.5))]), ints(graph, [shape[1]]),
                         ints(graph, [1]), ints(graph, [graph.choose([1, 2])]))]
    indices = graph.random.integers(shape[1], size=graph.choose([1, 3]))
    return [graph.op("Gather", x, ints(graph, indices), axis=1)]


def computed_indices(graph, extent):
    """Indices below `extent` that nodes compute: of greatest elements, or of elements cast to
    integers.  They follow from an input of the model, which both sides quantize to equal bits: an
    index has no bound in LSBs."""
    x = graph.choose(graph.inputs)
    axes = [axis for axis, size in enumerate(graph.shape(x)) if axis > 0 and size <= extent]
    if axes and graph.chance(0.4):
        return graph.op(graph.choose(["ArgMax", "ArgMin"]), x, axis=graph.choose(axes), keepdims=0)
    if axes and graph.chance(0.5):
        return graph.op("TopK", x, ints(graph, [1]), results=2, axis=graph.choose(axes))[1]
    limits = [graph.constant(0), graph.constant(extent - 1)]
    low = graph.op("Min", graph.op("Max", x, limits[0]), limits[1])
    return graph.op("Cast", low, to=7)


def look_up(graph):
    """Rows of a constant table, or of a value, at computed indices."""
    if graph.opset < 12:  # Max and Min
        return None
    rows, axis = graph.choose([4, 9, 40]), 0
    if graph.chance(0.7):
        table = graph.normal([rows, graph.choose([4, 8])], 1)
    else:
        table = pick(graph, lambda shape: len(shape) >= 2 and np.prod(shape) <= 64)
        if table is None:
            return None
        axis = len(graph.shape(table)) - 1
        rows = graph.shape(table)[axis]
    y = graph.op("Gather", table, computed_indices(graph, rows), axis=axis)
    if len(graph.shape(y)) > 5:
        y = graph.op("Flatten", y, axis=1)
    return [graph.op("Add", y, graph.constant(0.25))] if graph.chance(0.5) else [y]


def grow(graph):
    x = pick(graph, lambda shape: len(shape) >= 2)
    if x is None:
        return None
    rank = len(graph.shape(x))
    kind = graph.choose(["Pad", "Tile", "Expand"])
    if kind == "Tile":
        return [graph.op("Tile", x, ints(graph, [1, 2] + [1] * (rank - 2)))]
    if kind == "Expand":
        return [graph.op("Expand", x, ints(graph, [2] + [1] * rank))] if rank < 5 else None
    pads = [0] * (rank - 1) + [1] + [0] * (rank - 1) + [graph.choose([0, 1])]
    if graph.opset < 11:
        return [graph.op("Pad", x, pads=pads)]
    operands = [graph.constant(graph.choose([0, 0.3]))] if graph.chance(0.5) else []
    return [graph.op("Pad", x, ints(graph, pads), *operands)]


def depth(graph):
    x = pick(graph, lambda shape: len(shape) == 4 and shape[1] % 4 == 0)
    if x is not None and graph.chance(0.6):
        return [graph.op("DepthToSpace", x, blocksize=2)]
    x = pick(graph, lambda s: len(s) == 4 and s[2] % 2 == 0 and s[3] % 2 == 0)
    return x and [graph.op("SpaceToDepth", x, blocksize=2)]


def resize(graph):
    x = pick(graph, lambda shape: len(shape) == 4)
    if x is None or graph.opset < 11:
        return None
    mode = graph.choose(["nearest", "linear"])
    y = graph.op("Resize", x, graph.constant([]), graph.constant([1, 1, 2, 2]), mode=mode)
    if mode == "nearest":
        return [y]
    # The runtime interpolates in float, which decides ties: 1.5 % of the elements differ by one
    # LSB, and a node that reads them may amplify that.
    graph.ends.append(y)
    return []


# Operators that only move elements, which also come first and last.
MOVES = [reshape, reshape, cut, grow, depth, split, concat]
STEPS = [conv, conv, conv, conv_transpose, gemm, gemm, mat_mul, binary, binary, binary, unary, unary,
         clip, softmax, pool, pool, global_pool, reduce, variance, resize,
         look_up, *MOVES]


def choose(graph):
    """Appends one step; the names of its results."""
    at_border = not graph.nodes and graph.chance(0.5)
    step = graph.choose(MOVES if at_border else STEPS)
    return step(graph) or []
