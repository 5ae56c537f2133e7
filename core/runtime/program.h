// A graph made ready to run: steps over numbered slots, and where each slot's bytes are.  Built
// once by BuildProgram; immutable afterwards.
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
  Prepared prepared = {};        // no `run`: there is nothing to do, only to watch
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
  std::shared_ptr<const ir::Graph> own = {};  // what is run, if it is not the caller's graph
};

struct ProgramOptions {
  ir::Numerics numerics = ir::Numerics::kOnnx;
  // Values that one step alone reads need not be computed by themselves, and i8 activations may be
  // stored as u8.
  bool fuses = true;
};

// kUnimplemented names a node that no kernel computes in the mode.
Result<Program> BuildProgram(const ir::Graph& graph, const ProgramOptions& options,
                             ThreadPool& pool);

}  // namespace octavo::runtime
