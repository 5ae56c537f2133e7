// SPDX-License-Identifier: Apache-2.0
// Any bytes give a skeleton whose constant data lies inside them, or an error other than kInternal.
#include <cstdlib>

#include "core/onnx/wire/wire_scanner.h"

namespace {

void Check(const octavo::Result<octavo::onnx::Skeleton>& skeleton, const octavo::Blob& blob) {
  if (!skeleton) {
    if (skeleton.error().code == octavo::Code::kInternal) std::abort();
    return;
  }
  size_t held = 0;
  for (const octavo::onnx::View& view : skeleton->views) held += view.bytes.size();
  if (held > blob.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const Blob blob(std::string(reinterpret_cast<const char*>(data), size));
  Check(onnx::ScanModel(blob), blob);
  Check(onnx::ScanTensor(blob), blob);
  return 0;
}
