// SPDX-License-Identifier: Apache-2.0
// The files that a command writes.  They are checked before the job, after its inputs were read, so
// that no long job ends at a path that cannot be written; and written after it, the one added last
// (the model) at the very end: if it is there, all others are.
//
// "-" as a file is standard output; what a command prints goes to stderr then.
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/command.h"
#include "core/base/output_file.h"

namespace octavo::cli {

class OutputSet {
 public:
  explicit OutputSet(const Invocation& invocation) : invocation_(invocation) {}

  // Plans the file of a flag; an empty path is no file.  kUsage if it is an input or another
  // output, or if two outputs or --json need standard output; kInternal (IO) if it cannot be
  // written.
  Status Add(std::string_view flag, const std::string& path);
  // Plans a folder for AddFiles: it exists, or can be made.
  Status AddFolder(std::string_view flag, const std::string& folder);

  bool Has(std::string_view flag) const { return Find(flag) != nullptr; }
  // Whether the file of this flag is standard output, a device or a FIFO.
  bool IsStream(std::string_view flag) const;
  // Where the command prints: standard output unless that is a file of the command.
  std::ostream& messages() const;

  // Prepares the bytes of a flag's file, if the flag has one.
  Status Stage(std::string_view flag, Blob bytes);
  // The same without a copy: `text` stays as it is until Commit.
  Status StageView(std::string_view flag, std::string_view text) {
    return Stage(flag, Blob(nullptr, std::as_bytes(std::span(text))));
  }
  // Plans one more file, in a folder of AddFolder or next to the model.
  Status StageOne(std::string_view flag, const std::string& path, Blob bytes);

  // Writes all that was staged, unless an input has changed meanwhile (INPUT_CHANGED).
  Status Commit();

 private:
  struct Entry {
    std::string flag = {};
    std::optional<OutputFile> file = {};  // none: standard output
    Blob bytes = {};                      // of standard output and of files of a folder
    bool staged = false;
  };
  const Entry* Find(std::string_view flag) const;
  Result<Entry> Planned(std::string_view flag, const std::string& path);
  Status Write(Entry& entry);

  const Invocation& invocation_;
  std::map<std::string, std::string> flags_ = {};  // by the identity of the file
  std::vector<Entry> entries_ = {};
  std::vector<Entry> of_folders_ = {};  // written one after the other: there may be thousands
};

// Where parts of a result are kept until it is whole: the folder of OUT, so that they are on the
// same disk; empty (TMPDIR) if OUT is a stream.
std::string DownloadFolder(const std::string& out);

}  // namespace octavo::cli
