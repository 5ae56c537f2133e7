// SPDX-License-Identifier: Apache-2.0
// Any bytes give an array or an error; an array reads back unchanged after writing.
#include <cstdlib>

#include "core/data/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const auto read =
      data::ReadNpy("a", Blob(std::string(reinterpret_cast<const char*>(data), size)));
  if (!read) return 0;
  const auto again = data::ReadNpy("a", Blob(data::WriteNpy(*read)));
  if (!again || !(*again == *read)) std::abort();
  return 0;
}
