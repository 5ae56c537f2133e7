// SPDX-License-Identifier: Apache-2.0
// Any text gives a graph or an error that is not internal; a graph prints and reads back unchanged.
#include <cstdlib>

#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "core/text/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const text::ParseOptions options{.find_op = &ops::FindOp,
                                   .payload = [](std::string_view) -> Result<Blob> {
                                     return Fail(Code::kInvalidArgument, "no constant data");
                                   },
                                   .max_bytes = 1 << 20};
  const auto graph = text::Parse({reinterpret_cast<const char*>(data), size}, options);
  if (!graph) {
    if (graph.error().code == Code::kInternal) std::abort();
    return 0;
  }
  const text::PrintOptions whole{.literal_elements = 1 << 20};
  const std::string printed = text::Print(*graph, whole);
  const auto again = text::Parse(printed, options);
  if (!again || text::Print(*again, whole) != printed) std::abort();
  return 0;
}
