// SPDX-License-Identifier: Apache-2.0
// Any bytes give an archive or an error; inflating stays within the limit.
#include <cstdlib>

#include "core/data/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const Blob blob(std::string(reinterpret_cast<const char*>(data), size));
  const auto read = data::ReadNpz("a.npz", blob, {.bytes = 1 << 20});
  if (!read) return 0;
  for (const auto& [name, tensor] : *read) {
    if (tensor.bytes() > (1 << 20) + static_cast<int64_t>(size)) std::abort();
  }
  return 0;
}
