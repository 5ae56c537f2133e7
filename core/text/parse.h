// SPDX-License-Identifier: Apache-2.0
// Reads a graph from text.  The grammar is in README.md; an error names the line:
//   line 2: unknown op 'Rellu'
//   line 1: 2 scales but 3 zero points
#pragma once

#include <functional>
#include <string_view>

#include "core/base/blob.h"
#include "core/ir/graph.h"

namespace octavo::text {

// Finds the row of an op; null if there is none.  The domain is "" for ONNX's own.
using OpLookup = std::function<const ir::OpDef*(std::string_view name, std::string_view domain)>;
// Returns the bytes of data(sha256:DIGEST, ..); an error should name the missing file.
using PayloadSource = std::function<Result<Blob>(std::string_view digest)>;

struct ParseOptions {
  OpLookup find_op = {};
  PayloadSource payload = {};
  // Maximum bytes that splat, random and repeated scales, which are short to write, may create.
  int64_t max_bytes = int64_t{1} << 30;
};

// Whether a text begins like a graph, after comments.  No ONNX model and no native graph does.
bool IsGraph(std::string_view text);

// A graph whose declared types are those that its ops infer and that ir::Verify accepts.
// kInvalidArgument for a wrong text, kUnimplemented for an op that the lookup does not know,
// kTooLarge past max_bytes.
Result<ir::Graph> Parse(std::string_view text, const ParseOptions& options);

}  // namespace octavo::text
