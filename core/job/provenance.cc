// SPDX-License-Identifier: Apache-2.0
#include "core/job/provenance.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/base/mapped_pages.h"
#include "core/data/sample_name.h"
#include "core/job/execute.h"
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

// Adds the arguments that give an option this value.
struct ArgumentWriter {
  const OptionRow& row;
  std::vector<v1::GivenOption>& given;

  void Add(const std::string& argument) const {
    v1::GivenOption& option = given.emplace_back();
    option.set_name(std::string(row.name));
    option.set_argument(argument);
  }
  void operator()(bool value) const { Add(value ? "true" : "false"); }
  void operator()(int64_t value) const { Add(fmt::format("{}", value)); }
  void operator()(double value) const { Add(fmt::format("{}", value)); }
  void operator()(const std::string& value) const { Add(value); }
  void operator()(const std::vector<std::string>& names) const { Add(Joined(row, names)); }
  void operator()(const ShapeMap& shapes) const {
    for (const auto& [name, dims] : shapes) Add(fmt::format("{}={}", name, fmt::join(dims, ",")));
  }
};

// " --numerics tflite", " --per-tensor", " --no-quantize"
std::string FlagOf(const v1::GivenOption& given) {
  const OptionRow& row = *FindOption(given.name());
  if (row.flag == OptionFlag::kPerChoice) return " --" + given.argument();
  if (row.type == OptionType::kFlag) return ' ' + row.FlagName();
  return fmt::format(" {} {}", row.FlagName(), Quoted(given.argument()));
}

// " --data" and " --evaluate", each with its file, or FOLDER for several, " --labels" and
// " --values-from".
std::string SampleFlags(const std::vector<NamedBlob>& samples) {
  struct Set {
    std::string input = {}, path = {};
    size_t files = 0;
  };
  using Sets = std::map<int64_t, Set>;
  Sets given, evaluation;
  std::string labels, values;
  for (const NamedBlob& sample : samples) {
    if (data::KindOf(sample.name) == data::SampleKind::kLabels) {
      labels = fmt::format(" --labels {}", Quoted(data::FileOf(sample.name)));
      continue;
    }
    if (data::KindOf(sample.name) == data::SampleKind::kValues) {
      values = " --values-from FOLDER";
      continue;
    }
    const bool evaluates = data::KindOf(sample.name) == data::SampleKind::kEvaluation;
    const data::SampleName name =
        data::ParseSampleName(evaluates ? data::WithoutWord(sample.name) : sample.name);
    Set& set = (evaluates ? evaluation : given)[name.set];
    set.input = name.input;
    set.path = name.path;
    ++set.files;
  }
  std::string flags;
  const auto add = [&](std::string_view flag, const Sets& sets) {
    for (const auto& [number, set] : sets) {
      const std::string input = set.input.empty() ? std::string() : set.input + '=';
      flags += fmt::format(" {} {}", flag, Quoted(input + (set.files == 1 ? set.path : "FOLDER")));
    }
  };
  add("--data", given);
  add("--evaluate", evaluation);
  return flags + labels + values;
}

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
  command += SampleFlags(request.samples);
  if (request.profile) add("--profile", request.profile->name);
  if (request.target) add("--target", request.target->name);
  add("-o", request.options.output_name);
  for (const v1::GivenOption& given : GivenOptions(request)) command += FlagOf(given);
  return command;
}

std::vector<v1::GivenOption> GivenOptions(const Request& request) {
  std::vector<v1::GivenOption> given;
  const Options defaults;
  for (const OptionRow& row : OptionTable()) {
    if (!row.changes_result || row.flag == OptionFlag::kNone) continue;
    if (row.name == "target" && request.target) continue;  // the file decides
    const OptionValue value = row.get(request.options);
    if (value != row.get(defaults)) std::visit(ArgumentWriter{row, given}, value);
  }
  return given;
}

Result<Options> GivenOptionsOfReport(std::string_view report_json) {
  const auto report = nlohmann::json::parse(report_json, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("given_options")) {
    return OptionsOfReport(report_json);
  }
  const auto wrong = [](std::string_view why) {
    return Fail(Code::kInvalidArgument, "not the report of a job: given_options: {}", why)
        .Field("options_from");
  };
  const auto& given = report["given_options"];
  if (!given.is_array()) return wrong("must be a list");
  Options options;
  for (const auto& entry : given) {
    const auto text = [&](const char* key) {
      const auto at = entry.is_object() ? entry.find(key) : entry.end();
      return at != entry.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    const OptionRow* row = FindOption(text("name"));
    if (row == nullptr) return wrong(fmt::format("unknown option '{}'", text("name")));
    if (auto set = SetOptionText(*row, options, text("argument")); !set) {
      return wrong(set.error().message);
    }
  }
  return options;
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
