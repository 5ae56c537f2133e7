// What a model may ask for.  A few hundred bytes can describe terabytes of values and hours of
// work; a job refuses them by name before it computes anything.
#pragma once

#include <cstdint>

#include "core/ir/graph.h"

namespace octavo::job {

struct ModelLimits {
  int64_t nodes = 200'000;                 // 0: any number
  int64_t value_bytes = int64_t{1} << 30;  // of one computed value; 0: any number
};

// kTooLarge naming the node whose result takes more bytes than `limits` allow.  Constants of the
// model's file count as nothing: they are there already.
Status CheckValueBytes(const ir::Graph& graph, const ModelLimits& limits);

}  // namespace octavo::job
