// SPDX-License-Identifier: Apache-2.0
// Runs the whole job on any bytes as a model; it succeeds or fails with an error that is not
// internal.
#include <cstdlib>

#include "core/job/job.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  job::Request request{
      .options = {.threads = 1},
      .model = {"m.onnx", Blob(std::string(reinterpret_cast<const char*>(data), size))},
      .samples = {{"random:1:1", {}}}};
  const auto outcome = job::Run(request, StopToken(), {});
  if (!outcome && outcome.error().code == Code::kInternal) std::abort();
  return 0;
}
