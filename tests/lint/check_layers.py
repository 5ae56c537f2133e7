#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include of core, server, client and proto against the layers of ARCHITECTURE.md.

A folder may include its own files and what its arrows reach.  To let a layer see another one,
change LAYERS here and the map in ARCHITECTURE.md together.
"""

import re
import sys

import sources

# Folder -> the folders that it builds upon.
LAYERS = {
    "core/base": [],
    "core/ir": ["core/base"],
    "core/numerics": ["core/ir"],
    "core/text": ["core/ir"],
    # Proves what passes did, and so shares nothing with them: neither core/numerics nor core/ops.
    "core/verify": ["core/text"],
    "core/ops": ["core/numerics"],
    "core/target": ["core/numerics"],
    "core/data": ["core/ir"],
    "core/native": ["core/ir", "proto"],
    "core/float_exec": ["core/ops"],
    "core/profile": ["core/float_exec", "core/target"],
    "core/patterns": ["core/ops"],
    "core/onnx": ["core/patterns", "core/target"],
    "core/options": ["core/target", "core/profile"],
    "core/passes": ["core/patterns", "core/options", "core/text", "core/runtime"],
    "core/runtime": ["core/ops", "core/float_exec"],
    # A report is its message: core/report fills and prints octavo.v1.Report.
    "core/report": ["core/runtime", "core/float_exec", "core/text", "proto"],
    "core/job": ["core/onnx", "core/passes", "core/report", "core/data", "core/native",
                 "core/verify"],
    "client": ["core/job", "proto"],
    "proto": [],
}

# A server asks for jobs; what the steps of a job are is none of its business.  So this row is
# not followed any further.
EXACT_LAYERS = {
    "server": ["core/base", "core/job", "core/data", "core/options", "core/ops", "core/target", "proto"],
}

# Third-party headers -> the folders that may know them.
OUTSIDE = [
    ("ONNX's protobuf", r"^onnx/|(^|/)onnx[\w.-]*\.pb\.h$", ["core/onnx"]),
    ("gRPC", r"^grpc(pp|\+\+)?/|\.grpc\.pb\.h$", ["server", "client"]),
    ("protobuf", r"^google/(protobuf|rpc)/",
     ["core/onnx", "core/native", "core/report", "core/job", "server", "client"]),
    ("prometheus", r"^prometheus/", ["server/metrics"]),
    ("SQLite", r"^sqlite3\.h$", ["server/store"]),
    ("Asio and Beast", r"^boost/(asio|beast)\b", ["server/pool", "server/http"]),
]

# Headers that nothing may include, and why.
BARRED = {
    "ranges": "clang 14, which builds for the sanitizers, cannot read GCC 12's views; the "
              "algorithms of std::ranges stand in <algorithm>",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def layer_of(path):
    """The row of the tables that `path` belongs to, or None."""
    rows = [row for row in (*LAYERS, *EXACT_LAYERS) if inside(path, row)]
    return rows[0] if rows else None


def reachable(layer):
    """The folders that files of `layer` may include, itself among them."""
    if layer in EXACT_LAYERS:
        return {layer, *EXACT_LAYERS[layer]}
    seen, open_rows = set(), [layer]
    while open_rows:
        row = open_rows.pop()
        if row not in seen:
            seen.add(row)
            open_rows += LAYERS[row]
    return seen


def is_generated(header):
    """Code made from proto/octavo/v1, with or without the folder in front."""
    return re.match(r"^(proto/)?octavo/v\d+/", header) is not None


def complaint(path, quote, header):
    """What is wrong with `path` including `header`, or None."""
    if header in BARRED:
        return f"<{header}> may not be included: {BARRED[header]}"
    for name, pattern, folders in OUTSIDE:
        if re.search(pattern, header) and not (inside(header, "core") and quote == '"'):
            if not any(inside(path, folder) for folder in folders):
                return f"only {', '.join(folders)} may know {name} ({header})"
    if is_generated(header):
        target = "proto"
    elif quote == "<":
        return None
    elif "/" not in header:
        return f'"{header}" must be written as a path from the root'
    elif header.startswith("tests/"):
        return f"{header} belongs to the tests"
    elif header.split("/")[0] in ("core", "server", "client", "proto"):
        target = layer_of(header)
        if target is None:
            return f"{header} is in no layer; give its folder a row in LAYERS"
    else:
        return None
    layer = layer_of(path)
    if layer is None:
        return "is in no layer; give its folder a row in LAYERS"
    if target not in reachable(layer):
        return f"{layer} may not include {header}: it reaches {', '.join(sorted(reachable(layer)))}"
    return None


def check_text(path, text):
    """All complaints about the includes of one file, as lines to print."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        wrong = complaint(path, *match.groups()) if match else None
        if wrong:
            found.append(f"{path}:{number}: {wrong}")
    return found


def check_files(root, paths):
    return [line for path in paths for line in check_text(path, (root / path).read_text())]


def main():
    paths = sources.cpp_files(folders=("core", "server", "client", "proto"))
    complaints = check_files(sources.ROOT, paths)
    print("\n".join(complaints + [f"{len(paths)} files, {len(complaints)} complaints"]))
    return 1 if complaints or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
