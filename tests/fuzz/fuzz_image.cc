// SPDX-License-Identifier: Apache-2.0
// Any bytes give an image of the size that they declare, or an error.
#include <chrono>
#include <cstdlib>

#include "core/data/image_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace octavo;
  const Blob blob(std::string(reinterpret_cast<const char*>(data), size));
  // A few bytes may declare millions of pixels, which are no error.
  const StopToken stop(StopToken::Clock::now() + std::chrono::seconds(1));
  const auto image = data::DecodeImage("a", blob, stop);
  if (!image) return 0;
  if (image->pixels.size() != static_cast<size_t>(image->height * image->width * 3)) std::abort();
  if (!data::Resize(*image, 7, 5, {})) std::abort();
  return 0;
}
