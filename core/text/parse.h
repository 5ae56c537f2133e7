// SPDX-License-Identifier: Apache-2.0
// Parses a graph from text.  README.md has the grammar; errors include the line:
//   line 2: unknown op 'Rellu'
//   line 1: 2 scales but 3 zero points
#pragma once

#include <functional>
#include <string_view>

#include "core/base/blob.h"
#include "core/ir/graph.h"

namespace octavo::text {

// The row of an op, or null if it is unknown.  ONNX's own domain is "".
using OpLookup = std::function<const ir::OpDef*(std::string_view name, std::string_view domain)>;
// The bytes of data(sha256:DIGEST, ..); an error should name the missing file.
using PayloadSource = std::function<Result<Blob>(std::string_view digest)>;

struct ParseOptions {
  OpLookup find_op = {};
  PayloadSource payload = {};
  // Limit on the total bytes that a text can create by splat, random and repeated scales, which are
  // much longer than their text.
  int64_t max_bytes = int64_t{1} << 30;
};

// Whether a text, after comments, begins like a graph.  No ONNX model and no native graph does.
bool IsGraph(std::string_view text);

// Returns a graph that ir::Verify accepts and whose declared types match type inference.
// kInvalidArgument for a malformed text, kUnimplemented for an op that the lookup does not know,
// kTooLarge if max_bytes is exceeded.
Result<ir::Graph> Parse(std::string_view text, const ParseOptions& options);

}  // namespace octavo::text
