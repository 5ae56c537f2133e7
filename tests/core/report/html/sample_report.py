# SPDX-License-Identifier: Apache-2.0
"""A complete report of a small classifier with plausible figures."""

import math

BINS = 64


def _bell(center, width, total, rectified):
    counts = []
    for k in range(BINS):
        x = (k + 0.5) / BINS
        counts.append(int(total * math.exp(-((x - center) / width) ** 2)))
    if rectified:
        counts[0] += total * 6
    return counts


def _value(index, name, accumulated, local, dtype="u8"):
    rectified = dtype == "u8"
    floats = _bell(0.3 if rectified else 0.5, 0.16 + 0.01 * (index % 5), 4000, rectified)
    integers = [count + (37 * k + index) % 60 - 30 if count > 200 else count // 2
                for k, count in enumerate(floats)]
    steps = [int(90000 * 0.45 ** k) + (3 if k < 9 else 0) for k in range(16)] + [4]
    low, high = (0.0, 6.0) if rectified else (-4.2, 4.1)
    scale = (high - low) / 255
    return {
        "name": name, "sqnr_db": accumulated, "cosine": 1 - 10 ** (-accumulated / 10) / 2,
        "max_abs": 0.31, "mean_abs": 0.012, "max_steps": 9 + index, "steps_histogram": steps,
        "saturated_ratio": 0.0004 * (index % 7), "local_sqnr_db": local,
        "worst_channel": {"axis": 1, "index": 3 * index % 32, "sqnr_db": accumulated - 6.5},
        "top1_agreement": None, "dtype": dtype, "scale": scale * 0.92,
        "zero_point": 0 if rectified else 1,
        "node": f"Conv_{index}" if index else "", "op": "Conv" if index else "",
        "group": index + index % 2, "drift": {"share": 0.0, "excess": 0.0},
        "histogram": {"low": low, "high": high, "float": floats, "integer": integers},
    }


def _share(values):
    """Shares of 48 %, of which block4/depthwise has 15; of a group each value has the same."""
    largest = next(v["group"] for v in values if v["name"] == "block4/depthwise")
    groups = sorted({value["group"] for value in values} - {largest})
    for value in values:
        place = groups.index(value["group"]) if value["group"] != largest else -1
        value["error_share"] = 0.15 if place < 0 else round(0.33 / len(groups) - 0.001 * place, 4)


def _advice(action, names, gain, elements, flags):
    return {"action": action, "names": names, "gain_db": gain, "cost_elements": elements,
            "command": "octavo optimize mobile.onnx --data samples.npz -o mobile.int8.onnx " + flags,
            "sqnr_db": 31.5 + gain}


def sample_report():
    names = ["image"]
    for block in range(1, 8):
        names += [f"block{block}/conv", f"block{block}/depthwise", f"block{block}/add"]
    names += ["pool", "features", "logits"]
    values = []
    for i, name in enumerate(names):
        local = 47 - 5 * math.sin(1.3 * i) - 0.12 * i - (14 if name == "block4/depthwise" else 0)
        accumulated = 46 - 9 * math.log2(1 + i / 3) / 1.6 + 1.1 * math.sin(2.1 * i) - (
            4 if i > 11 else 0)
        values.append(_value(i, name, round(accumulated, 2), round(local, 2),
                             "i8" if name.endswith(("add", "logits")) else "u8"))
    values[0]["local_sqnr_db"] = None
    flat = values[len(values) - 3]  # a value that integers represent without an error
    flat.update(sqnr_db=None, local_sqnr_db=None, cosine=None, max_abs=0.0, mean_abs=0.0)
    _share(values)
    output = dict(values[-1], top1_agreement=0.984)
    return {
        "octavo_version": "0.1.0", "action_digest": "sha256:" + "3f9a" * 16,
        "numerics_mode": "onnx", "target": "cpu-int8",
        "options": {"activations": "u8", "calibration": "minmax", "emit": "qdq",
                    "keep_float": [], "numerics_limit": "fewer-roundings", "opset": 0,
                    "granularity": "per-channel", "shape": {"image": [1, 3, 224, 224]}},
        "model": {"nodes_before": 128, "nodes_after": 74,
                  "ops_before": {"Conv": 22, "BatchNormalization": 21, "Relu": 21, "Add": 7,
                                 "GlobalAveragePool": 1, "Gemm": 1},
                  "ops_after": {"Conv": 22, "Add": 7, "GlobalAveragePool": 1, "Gemm": 1,
                                "QuantizeLinear": 21, "DequantizeLinear": 22},
                  "bytes_before": 14_214_144, "bytes_after": 3_727_360},
        "profile": {"matched": 118, "unmatched_entries": ["old/branch:0"],
                    "missing_values": ["scores"], "from_payload": 44},
        "rescales": {"before": 31, "after": 4, "greedy_after": 9, "elements_before": 4_816_896,
                     "elements_after": 301_056,
                     "kept": [{"node": "block3/add.r", "reason":
                               "Add reads it at the scale of its other input"},
                              {"node": "block5/add.r", "reason":
                               "Add reads it at the scale of its other input"},
                              {"node": "block6/conv.r", "reason":
                               "block6/conv has 2 readers, which need different types"},
                              {"node": "pool.r", "reason": "the graph output keeps its type"}]},
        "passes": [{"name": name, "seconds": seconds, "changed": changed, "nodes_after": nodes}
                   for name, seconds, changed, nodes in [
                       ("fold-constants", 0.0021, True, 126), ("canonicalize", 0.0009, True, 126),
                       ("fold-batchnorm", 0.0112, True, 105), ("recognize", 0.0007, False, 105),
                       ("lower", 0.0004, False, 105), ("quantize", 0.0130, True, 214),
                       ("absorb-rescales", 0.0041, True, 190), ("place-rescales", 0.0093, True, 171),
                       ("fuse-activations", 0.0017, True, 150), ("remove-noops", 0.0006, True, 149),
                       ("merge-constants", 0.0170, True, 105)]],
        "ledger": [{"pass": "fold-batchnorm", "rule": "fold-batchnorm/fold-into-producer", "effect": "real-exact",
                    "node": f"block{k}/conv", "values": [f"block{k}/bn", f"block{k}/conv"],
                    "count": 3} for k in range(1, 8)] +
                  [{"pass": "absorb-rescales", "rule": "absorb-rescales/fold-into-consumer", "effect": "fewer-roundings",
                    "node": f"block{k}/depthwise", "values": [f"block{k}/conv.r"], "count": 1}
                   for k in range(1, 8)] +
                  [{"pass": "place-rescales", "rule": "place-rescales/sink", "effect": "exact",
                    "node": f"block{k}/add", "values": [f"block{k}/add.r"], "count": 1}
                   for k in range(1, 5)] +
                  [{"pass": "fuse-activations", "rule": "fuse-activations/fuse-into-producer", "effect":
                    "new-parameters", "node": "block2/relu", "values": ["block2/conv"],
                    "count": 2}],
        "float_nodes": [{"node": "softmax", "op": "Softmax",
                         "reason": "value 'scores' has no profile entry"}],
        "weights": [{"node": f"Conv_{k}", "op": "Conv", "rounding": "descent", "reason": "",
                     "elements": 9408, "changed": 1200 - 40 * k, "objective_before": 0.01,
                     "objective_after": 0.004, "max_bias_change": 0.02, "columns": 2048,
                     "skipped_columns": 0, "error_share": 0.52 / 22} for k in range(1, 23)],
        "advice": [_advice("several", ["--calibration mse", "--int16 block4/depthwise"], 1.62,
                           100_352, "--calibration mse --int16 block4/depthwise"),
                   _advice("calibration", ["mse"], 1.3, 0, "--calibration mse"),
                   _advice("int16", ["block4/depthwise"], 0.4, 100_352,
                           "--int16 block4/depthwise"),
                   _advice("rounding", ["bias"], 0.11, 0, "--rounding bias")],
        "numerics": {"reference": "float", "samples": 64, "samples_source": "data",
                     "samples_role": "held-out",
                     "error_shares": {"weights": 0.52, "activations": 0.46, "outputs": 0.02},
                     "outputs": [output], "values": values},
        "warnings": [{"code": "unmatched_entries", "node": "",
                      "message": "1 profile entry names a value that the model does not have"},
                     {"code": "ort_double_qdq", "node": "block3/add.r", "message":
                      "ONNX Runtime rewrites this Rescale unless "
                      "session.disable_double_qdq_remover is 1"}],
    }
