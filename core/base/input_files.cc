// SPDX-License-Identifier: Apache-2.0
#include "core/base/input_files.h"

#include <map>
#include <mutex>

namespace octavo {
namespace {

struct Inputs {
  std::mutex mutex = {};
  std::map<std::string, std::shared_ptr<const InputFile>> files = {};
};

Inputs& KnownInputs() {
  static Inputs inputs;
  return inputs;
}

FileState StateOf(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = info.st_size,
          .seconds = info.st_mtim.tv_sec,
          .nanoseconds = info.st_mtim.tv_nsec};
}

}  // namespace

std::shared_ptr<const InputFile> NoteInputFile(const std::string& path, const struct stat& info) {
  const std::scoped_lock lock(KnownInputs().mutex);
  auto& file = KnownInputs().files[path];
  if (!file) file = std::make_shared<InputFile>(InputFile{.path = path, .state = StateOf(info)});
  return file;
}

void ForgetInputFiles() {
  const std::scoped_lock lock(KnownInputs().mutex);
  KnownInputs().files.clear();
}

const char* ChangeOf(const InputFile& file) {
  struct stat info = {};
  if (stat(file.path.c_str(), &info) != 0) return "it is gone";
  const FileState now = StateOf(info);
  if (now == file.state) return nullptr;
  if (now.device != file.state.device || now.inode != file.state.inode) {
    return "it is another file now";
  }
  if (now.size < file.state.size) return "it was truncated";
  if (now.size > file.state.size) return "it has grown";
  return "it was written to";
}

Status CheckInputFiles() {
  const std::scoped_lock lock(KnownInputs().mutex);
  for (const auto& [path, file] : KnownInputs().files) {
    const char* change = ChangeOf(*file);
    if (change == nullptr) continue;
    return Fail(Code::kInvalidArgument, "'{}' changed during the job: {}", path, change)
        .Field(path)
        .Reason("INPUT_CHANGED");
  }
  return {};
}

std::string InputPathOf(const struct stat& info) {
  const FileState state = StateOf(info);
  const std::scoped_lock lock(KnownInputs().mutex);
  for (const auto& [path, file] : KnownInputs().files) {
    if (file->state.device == state.device && file->state.inode == state.inode) return path;
  }
  return {};
}

}  // namespace octavo
