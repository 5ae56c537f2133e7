// SPDX-License-Identifier: Apache-2.0
#include "client/cli/output_set.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/base/input_files.h"

namespace octavo::cli {
namespace {

constexpr const char* kStdout = "-";

bool IsStdout(const OutputPath& place) { return place.descriptor == 1; }

}  // namespace

Result<OutputSet::Entry> OutputSet::Planned(std::string_view flag, const std::string& path) {
  Entry entry{.flag = std::string(flag)};
  std::string identity = kStdout;
  if (path != kStdout) {
    OCTAVO_TRY(OutputFile file, OutputFile::Plan(path));
    if (!IsStdout(file.place())) {
      identity = file.place().identity;
      entry.file = std::move(file);
    }
  }
  if (!entry.file && invocation_.json) {
    return Fail(Code::kUsage, "{} and --json both write to standard output", flag).Field(flag);
  }
  struct stat info = {};
  if (entry.file && stat(entry.file->place().target.c_str(), &info) == 0) {
    if (const std::string input = InputPathOf(info); !input.empty()) {
      return Fail(Code::kUsage, "{} '{}' would replace the input '{}'", flag, path, input)
          .Field(flag);
    }
  }
  if (identity.empty()) return entry;
  const auto [at, fresh] = flags_.emplace(identity, flag);
  if (fresh) return entry;
  if (!entry.file) {
    return Fail(Code::kUsage, "{} and {} both write to standard output", at->second, flag)
        .Field(flag);
  }
  return Fail(Code::kUsage, "{} and {} both write '{}'", at->second, flag, path).Field(flag);
}

Status OutputSet::Add(std::string_view flag, const std::string& path) {
  if (path.empty()) return {};
  OCTAVO_TRY(Entry entry, Planned(flag, path));
  entries_.push_back(std::move(entry));
  return {};
}

Status OutputSet::AddFolder(std::string_view flag, const std::string& folder) {
  if (folder.empty()) return {};
  if (folder == kStdout) {
    return Fail(Code::kUsage, "{} is a folder; it cannot be standard output", flag).Field(flag);
  }
  return CheckFolder(folder);
}

const OutputSet::Entry* OutputSet::Find(std::string_view flag) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& other) { return other.flag == flag; });
  return entry == entries_.end() ? nullptr : &*entry;
}

bool OutputSet::IsStream(std::string_view flag) const {
  const Entry* entry = Find(flag);
  if (entry == nullptr) return false;
  return !entry->file || entry->file->place().kind == OutputKind::kStream;
}

std::ostream& OutputSet::messages() const {
  return flags_.contains(kStdout) ? invocation_.host.err : invocation_.host.out;
}

Status OutputSet::Stage(std::string_view flag, Blob bytes) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& other) { return other.flag == flag; });
  if (entry == entries_.end()) return {};
  entry->staged = true;
  if (entry->file) return entry->file->Stage(std::move(bytes));
  entry->bytes = std::move(bytes);
  return {};
}

Status OutputSet::StageOne(std::string_view flag, const std::string& path, Blob bytes) {
  OCTAVO_TRY(Entry entry, Planned(flag, path));
  entry.bytes = std::move(bytes);
  of_folders_.push_back(std::move(entry));
  return {};
}

Status OutputSet::Write(Entry& entry) {
  if (entry.file) return entry.file->Commit(invocation_.host.stop);
  const std::string_view text = entry.bytes.text();
  invocation_.host.out.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (invocation_.host.out.flush()) return {};
  return Fail(Code::kInternal, "{}: cannot write to standard output", entry.flag)
      .Field(entry.flag)
      .Reason("IO");
}

Status OutputSet::Commit() {
  OCTAVO_CHECK(CheckInputFiles());
  for (Entry& entry : of_folders_) {
    if (entry.file) OCTAVO_CHECK(entry.file->Stage(std::move(entry.bytes)));
    OCTAVO_CHECK(Write(entry));
  }
  for (Entry& entry : entries_) {
    // Files of a folder may have been written from mapped inputs.
    if (&entry == &entries_.back()) OCTAVO_CHECK(CheckInputFiles());
    if (entry.staged) OCTAVO_CHECK(Write(entry));
  }
  ForgetInputFiles();
  return {};
}

std::string DownloadFolder(const std::string& out) {
  struct stat info = {};
  const bool stream = out == kStdout || (stat(out.c_str(), &info) == 0 && !S_ISREG(info.st_mode));
  return stream ? std::string() : FolderOf(out);
}

}  // namespace octavo::cli
