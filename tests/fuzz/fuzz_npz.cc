// SPDX-License-Identifier: Apache-2.0
// Any bytes give an archive or an error; members are read only as far as is asked.
#include <algorithm>
#include <cstdlib>

#include "core/data/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const Blob blob(std::string(reinterpret_cast<const char*>(data), size));
  const auto arrays = data::OpenNpz("a.npz", blob);
  if (!arrays) return 0;
  for (const auto& [name, array] : *arrays) {
    const int64_t elements = ir::NumElements(array->shape());
    if (elements < 0) std::abort();
    std::vector<std::byte> part(
        static_cast<size_t>(std::min<int64_t>(elements, 1 << 16) * ir::SizeOf(array->dtype())));
    if (array->Read(0, part, {})) array->Release();
  }
  return 0;
}
