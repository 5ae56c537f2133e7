// SPDX-License-Identifier: Apache-2.0
#include "core/data/whole_array.h"

#include <algorithm>
#include <cstring>

#include "core/base/mapped_pages.h"

namespace octavo::data {

Result<ArrayPtr> WholeArray::Open(std::string name, const Blob& bytes, const TensorParser& parse) {
  OCTAVO_TRY(const ir::Tensor tensor, parse(bytes));
  auto array = std::make_shared<WholeArray>(std::move(name), tensor, bytes, parse);
  array->Release();
  return array;
}

Status WholeArray::Read(int64_t first, std::span<std::byte> out, const StopToken& stop) {
  if (!tensor_) {
    OCTAVO_TRY(tensor_, parse_(bytes_));
  }
  const size_t begin = static_cast<size_t>(first) * static_cast<size_t>(ir::SizeOf(dtype()));
  for (size_t done = 0; done < out.size(); done += kReadPart) {
    OCTAVO_CHECK(stop.Check());
    std::memcpy(out.data() + done, tensor_->raw() + begin + done,
                std::min(kReadPart, out.size() - done));
  }
  return {};
}

void WholeArray::Release() {
  tensor_.reset();
  ReleasePages(bytes_.bytes());
}

}  // namespace octavo::data
