// SPDX-License-Identifier: Apache-2.0
#include "core/job/provenance.h"

#include <fmt/format.h>

#include "core/base/mapped_pages.h"
#include "core/options/option_table.h"

namespace octavo::job {
namespace {

// A word of a shell's command line.
std::string Quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

// One argument with all names: a separator in a name is escaped.
std::string Joined(const OptionRow& row, const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) {
    if (!joined.empty()) joined += row.separator;
    for (const char c : name)
      joined += c == row.separator ? fmt::format("\\{}", c) : std::string(1, c);
  }
  return joined;
}

struct Argument {
  const OptionRow& row;
  std::string& command;

  void Add(const std::string& value) const {
    command += fmt::format(" {} {}", row.FlagName(), Quoted(value));
  }
  void operator()(bool) const { command += ' ' + row.FlagName(); }
  void operator()(int64_t value) const { Add(fmt::format("{}", value)); }
  void operator()(double value) const { Add(fmt::format("{}", value)); }
  void operator()(const std::string& value) const {
    if (row.flag == OptionFlag::kPerChoice) {
      command += " --" + value;
    } else {
      Add(value);
    }
  }
  void operator()(const std::vector<std::string>& names) const { Add(Joined(row, names)); }
  void operator()(const ShapeMap& shapes) const {
    for (const auto& [name, dims] : shapes) Add(fmt::format("{}={}", name, fmt::join(dims, ",")));
  }
};

v1::ReportFile FileOf(std::string_view role, const std::string& name, uint64_t bytes,
                      const std::string& sha256) {
  v1::ReportFile file;
  file.set_role(std::string(role));
  file.set_name(name);
  file.set_bytes(static_cast<int64_t>(bytes));
  file.set_sha256(sha256);
  return file;
}

}  // namespace

std::string CommandOf(const Request& request) {
  std::string command = "octavo optimize " + Quoted(request.model.name);
  const auto add = [&](std::string_view flag, const std::string& value) {
    command += fmt::format(" {} {}", flag, Quoted(value));
  };
  if (request.samples.size() == 1) add("--data", request.samples.front().name);
  if (request.samples.size() > 1) add("--data", "FOLDER");
  if (request.profile) add("--profile", request.profile->name);
  if (request.target) add("--target", request.target->name);
  add("-o", request.options.output_name);
  const Options defaults;
  for (const OptionRow& row : OptionTable()) {
    if (!row.changes_result || row.flag == OptionFlag::kNone) continue;
    if (row.name == "target" && request.target) continue;  // named above
    const OptionValue value = row.get(request.options);
    if (value == row.get(defaults)) continue;
    std::visit(Argument{row, command}, value);
  }
  return command;
}

std::vector<v1::ReportFile> FilesOf(const std::vector<DeclaredInput>& inputs) {
  std::vector<v1::ReportFile> files;
  for (const DeclaredInput& input : inputs) {
    files.push_back(FileOf(Name(input.role), input.name, input.size, input.sha256));
  }
  return files;
}

std::vector<v1::ReportFile> FilesOf(const Outcome& outcome, const std::string& name) {
  const auto file = [](InputRole role, const std::string& called, const Blob& bytes) {
    return FileOf(Name(role), called, bytes.size(), Sha256OfMapped(bytes.bytes()));
  };
  std::vector<v1::ReportFile> files = {file(InputRole::kModel, name, outcome.model.bytes)};
  for (const NamedBlob& blob : outcome.external) {
    files.push_back(file(InputRole::kExternal, blob.name, blob.bytes));
  }
  return files;
}

}  // namespace octavo::job
