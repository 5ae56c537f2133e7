// SPDX-License-Identifier: Apache-2.0
// A graph that is ready to run: steps over numbered slots, and the location of each slot.
// BuildProgram makes it; it is immutable afterwards.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// One value in one layout.
struct Slot {
  enum class Kind { kFixed, kInput, kBuffer, kOutput };
  ir::ValueId value = {};
  Layout layout = Layout::kPlain;
  Kind kind = Kind::kBuffer;
  ir::DType dtype = ir::DType::kF32;
  ir::Shape shape = {};
  ir::Tensor fixed = {};      // kFixed
  int64_t offset = 0;         // kBuffer: in the workspace
  int first = -1, last = -1;  // steps during which it is alive
};

struct Step {
  std::string_view kernel = {}, isa = {}, op = {};
  std::string node = {};
  Prepared prepared = {};        // no `run`: its results are only passed to a watcher
  std::vector<int> inputs = {};  // slots; -1: absent
  std::vector<int> results = {};
  std::vector<int> watched = {};  // slots of the node's results
  int64_t scratch_offset = 0;
};

struct Program {
  std::vector<Slot> slots = {};
  std::vector<Step> steps = {};
  std::vector<int> inputs = {};   // slots, in the graph's order
  std::vector<int> outputs = {};  // likewise, plain
  int64_t workspace_bytes = 0;
  std::shared_ptr<const ir::Graph> own = {};  // the graph that runs, if not the caller's
};

struct ProgramOptions {
  const numerics::Mode* numerics = &numerics::kOnnx;
  // Fuse nodes and store i8 activations as u8.  Some values of the graph are then not computed, or
  // not in their own type.
  bool fuses = true;
};

// kUnimplemented names a node that no kernel computes in the mode.
Result<Program> BuildProgram(const ir::Graph& graph, const ProgramOptions& options,
                             ThreadPool& pool);

}  // namespace octavo::runtime
