// SPDX-License-Identifier: Apache-2.0
#include "client/cli/outputs.h"

#include <filesystem>

#include "client/cli/external_files.h"
#include "client/cli/terminal_text.h"

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;

bool StaysInside(const fs::path& relative) {
  if (relative.empty() || relative.is_absolute()) return false;
  for (const fs::path& part : relative) {
    if (part == ".." || part == ".") return false;
  }
  return relative.has_filename();
}

Result<std::string> StageOne(std::string_view flag, const fs::path& folder,
                             const job::NamedBlob& blob, OutputSet& outputs) {
  if (!StaysInside(blob.name)) {
    return Fail(Code::kInternal, "a result is named '{}', which is not inside '{}'", blob.name,
                folder.string())
        .Reason("BAD_ANSWER");
  }
  const std::string path = (folder / blob.name).string();
  OCTAVO_CHECK(outputs.StageOne(flag, path, blob.bytes));
  return path;
}

// Escapes a path for make: a blank ends a name, '#' begins a comment, '$' begins a variable.
std::string Escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '#' || c == '\\') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> StageModel(const job::Outcome& outcome, const std::string& path,
                                            OutputSet& outputs) {
  if (!outcome.external.empty() && outputs.IsStream("-o")) {
    return Fail(Code::kUsage,
                "the result has external data ('{}'), which cannot go next to '{}'; -o must name a "
                "regular file",
                outcome.external.front().name, path)
        .Field("-o");
  }
  const bool text = outcome.model.name.ends_with(".graph");
  const fs::path folder = text ? fs::path(path + kPayloadFolder) : fs::path(path).parent_path();
  std::vector<std::string> written = {path};
  for (const job::NamedBlob& blob : outcome.external) {
    OCTAVO_TRY(std::string file, StageOne("the external data of -o", folder, blob, outputs));
    written.push_back(std::move(file));
  }
  OCTAVO_CHECK(outputs.Stage("-o", outcome.model.bytes));
  return written;
}

Status StageReport(const Host& host, const std::string& report_json, OutputSet& outputs) {
  OCTAVO_CHECK(outputs.StageView("--report", report_json));
  if (!outputs.Has("--html")) return {};
  OCTAVO_TRY(std::string html, host.render_html(report_json));
  return outputs.Stage("--html", Blob(std::move(html)));
}

Status StageInto(std::string_view flag, const std::string& folder,
                 const std::vector<job::NamedBlob>& blobs, OutputSet& outputs) {
  if (folder.empty()) return {};
  for (const job::NamedBlob& blob : blobs) OCTAVO_CHECK(StageOne(flag, folder, blob, outputs));
  return {};
}

std::string DepfileText(const std::string& target, const std::vector<std::string>& inputs) {
  std::string text = Escaped(target) + ':';
  for (const std::string& input : inputs) text += " \\\n  " + Escaped(input);
  text += '\n';
  return text;
}

void PrintWritten(const Invocation& invocation, std::vector<std::string> paths) {
  std::erase_if(paths, [](const std::string& path) { return path.empty() || path == "-"; });
  if (paths.empty() || invocation.quiet || invocation.json) return;
  invocation.host.err << ForTerminal(fmt::format("octavo: wrote {}", fmt::join(paths, ", ")))
                      << '\n';
}

}  // namespace octavo::cli
