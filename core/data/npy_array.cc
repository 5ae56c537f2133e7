// SPDX-License-Identifier: Apache-2.0
// The array of a .npy file that is mapped or in memory.
#include <algorithm>
#include <cstring>

#include "core/base/mapped_pages.h"
#include "core/data/npy.h"
#include "core/data/npy_elements.h"

namespace octavo::data {
namespace {

class NpyArray : public Array {
 public:
  NpyArray(std::string name, const NpyHeader& header, const Blob& bytes)
      : Array(std::move(name), header.dtype, header.shape),
        header_(header),
        bytes_(bytes),
        elements_(bytes.Slice(header.data, bytes.size() - header.data)) {}

  Status Read(int64_t first, std::span<std::byte> out, const StopToken& stop) override {
    const auto width = static_cast<size_t>(ir::SizeOf(dtype()));
    const auto begin = static_cast<size_t>(first) * width;
    for (size_t done = 0; done < out.size(); done += kReadPart) {
      OCTAVO_CHECK(stop.Check());
      const std::span<std::byte> part = out.subspan(done, std::min(kReadPart, out.size() - done));
      if (header_.fortran) {
        CopyFortran(shape(), width, elements_.bytes(), (begin + done) / width, part);
      } else {
        std::memcpy(part.data(), elements_.bytes().data() + begin + done, part.size());
      }
      OCTAVO_CHECK(FinishElements(name(), header_, part));
      read_ += part.size();
      if (read_ >= kReleaseAfter) Release();
    }
    return {};
  }

  void Release() override {
    read_ = 0;
    ReleasePages(bytes_.bytes());
  }

 private:
  NpyHeader header_;
  Blob bytes_;     // the whole file
  Blob elements_;  // of it
  size_t read_ = 0;
};

}  // namespace

Result<ArrayPtr> OpenNpy(std::string_view what, const Blob& bytes) {
  OCTAVO_TRY(const NpyHeader header,
             ReadNpyHeader(what, bytes.text().substr(0, kMaxNpyHead), bytes.size()));
  auto array = std::make_shared<NpyArray>(std::string(what), header, bytes);
  array->Release();  // a folder may have many files, and each header is in a page of its own
  return array;
}

}  // namespace octavo::data
