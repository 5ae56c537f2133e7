// SPDX-License-Identifier: Apache-2.0
// Any bytes give a graph or an error that is not internal; a graph reads back unchanged after
// writing.
#include <cstdlib>

#include "core/native/native.h"
#include "core/ops/op_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const Blob blob(std::string(reinterpret_cast<const char*>(data), size));
  const auto graph = native::Read(blob, &ops::FindOp);
  if (!graph) {
    if (graph.error().code == Code::kInternal) std::abort();
    return 0;
  }
  const std::string written = native::Write(*graph);
  const auto again = native::Read(Blob(written), &ops::FindOp);
  if (!again || native::Write(*again) != written) std::abort();
  return 0;
}
