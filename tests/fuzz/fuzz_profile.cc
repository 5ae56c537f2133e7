// SPDX-License-Identifier: Apache-2.0
// Any text gives a profile or an error that is not internal.
#include <cstdlib>

#include "core/profile/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const auto profile = profile::Parse({reinterpret_cast<const char*>(data), size});
  if (!profile && profile.error().code == Code::kInternal) std::abort();
  return 0;
}
