// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <zip.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/descriptor.h"
#include "core/base/mapped_pages.h"
#include "core/data/zip_archive.h"

namespace octavo::data {
namespace {

namespace fs = std::filesystem;

// 1 January 1980, the first day that the format knows.
constexpr zip_uint16_t kMidnight = 0, kFirstDay = 0x21;

Failure StorageError(std::string_view why) {
  return Fail(Code::kResourceExhausted, "cannot write a temporary archive of the samples: {}", why)
      .Reason("STORAGE");
}

// A folder that is removed with all that is in it.
struct TemporaryFolder {
  fs::path path = {};

  TemporaryFolder() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    std::string name = (error ? fs::path("/tmp") : parent) / "octavo-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

Status Add(zip_t* archive, const ZipInput& member) {
  zip_source_t* source =
      zip_source_buffer(archive, member.bytes.bytes().data(), member.bytes.size(), 0);
  const zip_int64_t index =
      source == nullptr ? -1 : zip_file_add(archive, member.name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    if (source != nullptr) zip_source_free(source);
    return StorageError(zip_strerror(archive));
  }
  const auto at = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, at, kMidnight, kFirstDay, 0) != 0) {
    return StorageError(zip_strerror(archive));
  }
  return {};
}

int Stopped(zip_t*, void* stop) { return static_cast<const StopToken*>(stop)->StopRequested(); }

// After each hundredth: the pages of what was packed are no longer needed.
void ReleaseMembers(zip_t*, double, void* members) {
  for (const ZipInput& member : *static_cast<const std::vector<ZipInput>*>(members)) {
    ReleasePages(member.bytes.bytes());
  }
}

}  // namespace

Result<Blob> PackZip(const std::vector<ZipInput>& members, const StopToken& stop) {
  const TemporaryFolder folder;
  if (folder.path.empty()) return StorageError(std::strerror(errno));
  const std::string path = folder.path / "samples.zip";
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &code);
  if (archive == nullptr) return StorageError(std::strerror(errno));
  for (const ZipInput& member : members) {
    if (auto added = Add(archive, member); !added) {
      zip_discard(archive);
      return Forward(std::move(added).error());
    }
  }
  StopToken asked = stop;
  std::vector<ZipInput> packed = members;
  zip_register_progress_callback_with_state(archive, 0.01, &ReleaseMembers, nullptr, &packed);
  zip_register_cancel_callback_with_state(archive, &Stopped, nullptr, &asked);
  if (zip_close(archive) != 0) {
    const std::string why = zip_strerror(archive);
    zip_discard(archive);
    OCTAVO_CHECK(stop.Check());
    return StorageError(why);
  }
  // The mapping stays readable when the file is gone.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info = {};
  if (file.fd < 0 || fstat(file.fd, &info) != 0) return StorageError(std::strerror(errno));
  const Blob mapped = MapDescriptor(file.fd, static_cast<size_t>(info.st_size));
  if (mapped.empty()) return StorageError(std::strerror(errno));
  return mapped;
}

}  // namespace octavo::data
