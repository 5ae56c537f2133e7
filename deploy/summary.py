#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a summary of a report."""

import json
import sys


def size(count):
    return f"{count / 1024:,.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):,.1f} MiB"


def decibel(output):
    if output["exact"]:
        return "exact"
    return "undefined" if output["sqnr_db"] is None else f"{output['sqnr_db']:.1f} dB"


def lines(report):
    """Yields pairs of a caption and a text."""
    model, rescales = report["model"], report["rescales"]
    before, after = model["bytes_before"], model["bytes_after"]
    smaller = f", {before / after:.2f} times smaller" if after and before > after else ""
    yield "size", f"{size(before)} -> {size(after)}{smaller}"
    yield "nodes", f"{model['nodes_before']} -> {model['nodes_after']}"
    yield "Rescales", (f"{rescales['before']} -> {rescales['after']} "
                       f"({rescales['before'] - rescales['after']} removed)")
    numerics = report["numerics"]
    for output in numerics["outputs"]:
        text = f"{decibel(output)} on {numerics['samples']:,} {numerics['samples_role']} samples"
        if output["calibration_sqnr_db"] is not None:
            text += f" ({output['calibration_sqnr_db']:.1f} dB on calibration samples)"
        yield f"SQNR of {output['name']}", text
    accuracy = numerics.get("accuracy")
    for top in ("top1", "top5"):
        if accuracy and accuracy[top] is not None:
            yield f"top-{top[3:]}", (f"{100 * accuracy[top]:.2f} % (float: "
                                    f"{100 * accuracy[top + '_float']:.2f} %) of "
                                    f"{accuracy['samples']:,} samples")
    if report["float_nodes"]:
        yield "left in float", ", ".join(node["node"] for node in report["float_nodes"])
    for warning in report["warnings"]:
        yield "warning", warning["message"]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: summary.py REPORT.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    for caption, text in lines(report):
        print(f"{caption:<20} {text}")


if __name__ == "__main__":
    main()
