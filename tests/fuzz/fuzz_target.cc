// SPDX-License-Identifier: Apache-2.0
// Any text gives a target or an error that is not internal.
#include <cstdlib>

#include "core/target/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const auto target = target::Parse({reinterpret_cast<const char*>(data), size});
  if (!target && target.error().code == Code::kInternal) std::abort();
  return 0;
}
