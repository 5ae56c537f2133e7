// SPDX-License-Identifier: Apache-2.0
// octavo reproduce: runs the job of a report again and compares the bytes of its result.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"
#include "client/cli/report_files.h"
#include "client/cli/sample_files.h"
#include "core/base/mapped_pages.h"
#include "core/base/version.h"
#include "core/data/sample_name.h"
#include "core/job/gates.h"

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;

// What PackSamples calls its archives.
bool IsPacked(const std::string& name) {
  static const std::regex archive("(evaluate:)?samples[0-9]+\\.zip");
  return std::regex_match(name, archive);
}

struct Arguments {
  std::string report = {};
  std::vector<std::string> from = {};
  SampleArguments samples = {};
  OptionFlags flags = {};
  job::ModelLimits limits = {};
};

// Finds the files of a report by their digests.
class Finder {
 public:
  Finder(const std::string& report, const std::vector<std::string>& from)
      : folders_(from.begin(), from.end()) {
    folders_.push_back(fs::path(report).parent_path());
    folders_.emplace_back();  // the current folder
  }

  // The path of the first file of that name and digest.  kUsage if no folder has a file of that
  // name, kInvalidArgument if those that there are have other bytes.
  Result<fs::path> Find(const ReportFile& file) const {
    std::string other;
    const std::string name = file.role == "samples" ? data::FileOf(file.name) : file.name;
    for (const fs::path& folder : folders_) {
      if (!StaysInside(name)) break;
      const fs::path path = folder / name;
      std::error_code error;
      if (!fs::is_regular_file(path, error)) continue;
      OCTAVO_TRY(const Blob bytes, Blob::MapFile(path.string()));
      const std::string digest = Sha256OfMapped(bytes.bytes());
      if (digest == file.sha256) return path;
      other = fmt::format("'{}' has sha256:{}", path.string(), digest);
    }
    if (!other.empty()) {
      return Fail(Code::kInvalidArgument, "{}, but the {} of the report has sha256:{}", other,
                  file.role, file.sha256)
          .Field(file.name)
          .Reason("DIGEST_MISMATCH");
    }
    return Fail(Code::kUsage,
                "'{}', the report's {}, is in none of the folders; name its folder with --from{}",
                name, file.role,
                file.role == "samples"
                    ? ", or give --data, --evaluate and --labels as the job had them"
                    : "")
        .Field(file.name);
  }

 private:
  std::vector<fs::path> folders_;
};

// The model with its external data, whose digests the report has too.
Status ReadModelOf(const Host& host, const Finder& finder, const JobRecord& record,
                   const ReportFile& file, job::Request& request) {
  OCTAVO_TRY(const fs::path path, finder.Find(file));
  OCTAVO_TRY(ModelFiles model, ReadModel(host, path.string()));
  std::set<std::string> expected;
  for (const ReportFile& input : record.inputs) {
    if (input.role == "external") expected.insert(input.name + ' ' + input.sha256);
  }
  for (const job::NamedBlob& blob : model.external) {
    if (expected.contains(blob.name + ' ' + Sha256OfMapped(blob.bytes.bytes()))) continue;
    return Fail(Code::kInvalidArgument, "the external data '{}' of '{}' are not the report's",
                blob.name, path.string())
        .Field(blob.name)
        .Reason("DIGEST_MISMATCH");
  }
  request.model = std::move(model.model);
  request.external_data = std::move(model.external);
  return {};
}

Result<job::NamedBlob> ReadFile(const Finder& finder, const ReportFile& file) {
  if (file.role == "samples" && job::IsRandom(file.name)) {
    return job::NamedBlob{.name = file.name};
  }
  OCTAVO_TRY(const fs::path path, finder.Find(file));
  OCTAVO_TRY(Blob bytes, Blob::MapFile(path.string()));
  return job::NamedBlob{.name = file.name, .bytes = std::move(bytes)};
}

// The samples of --data, --evaluate and --labels, which must be the report's.
Result<std::vector<job::NamedBlob>> ReadGivenSamples(const Invocation& invocation,
                                                     const Arguments& arguments,
                                                     const JobRecord& record) {
  OCTAVO_TRY(SampleFiles files, ReadSamples(arguments.samples, invocation.host.stop));
  std::map<std::string, std::string> expected;
  bool packed = false;
  for (const ReportFile& file : record.inputs) {
    if (file.role != "samples") continue;
    expected[file.name] = file.sha256;
    packed = packed || IsPacked(file.name);
  }
  // A job on a service sent many files as one.
  if (packed && expected.size() < files.samples.size()) {
    OCTAVO_CHECK(PackSamples(invocation.host.stop, files.samples));
  }
  const auto wrong = [](const std::string& name, std::string_view why) {
    return Fail(Code::kInvalidArgument, "the samples are not the report's: '{}' {}", name, why)
        .Field(name)
        .Reason("DIGEST_MISMATCH");
  };
  for (const job::NamedBlob& blob : files.samples) {
    const auto at = expected.find(blob.name);
    if (at == expected.end()) return wrong(blob.name, "is not in it");
    // Samples that are drawn have no bytes.
    if (!job::IsRandom(blob.name) && Sha256OfMapped(blob.bytes.bytes()) != at->second) {
      return wrong(blob.name, "has other bytes in it");
    }
    expected.erase(at);
  }
  if (!expected.empty()) return wrong(expected.begin()->first, "is missing");
  return std::move(files.samples);
}

Result<job::Request> RequestOf(const Invocation& invocation, const Arguments& arguments,
                               const JobRecord& record) {
  job::Request request{.limits = arguments.limits};
  OCTAVO_TRY(request.options, arguments.flags.Read(record.options));
  request.options.output_name = record.outputs.front().name;
  const Finder finder(arguments.report, arguments.from);
  const SampleArguments& samples = arguments.samples;
  const bool given = !samples.data.empty() || !samples.evaluate.empty() || !samples.labels.empty();
  for (const ReportFile& file : record.inputs) {
    if (file.role == "model") {
      OCTAVO_CHECK(ReadModelOf(invocation.host, finder, record, file, request));
    } else if (file.role == "profile") {
      OCTAVO_TRY(request.profile, ReadFile(finder, file));
    } else if (file.role == "target") {
      OCTAVO_TRY(request.target, ReadFile(finder, file));
      request.options.target = Options().target;
    } else if (file.role == "samples" && !given) {
      OCTAVO_TRY(job::NamedBlob found, ReadFile(finder, file));
      request.samples.push_back(std::move(found));
    }
  }
  if (given) {
    OCTAVO_TRY(request.samples, ReadGivenSamples(invocation, arguments, record));
  }
  return request;
}

// Null if the result has no such file.
const Blob* FindResult(const job::Outcome& outcome, const ReportFile& file) {
  if (file.role == "model") return &outcome.model.bytes;
  for (const job::NamedBlob& blob : outcome.external) {
    if (blob.name == file.name) return &blob.bytes;
  }
  return nullptr;
}

// The files of the result that are not the report's, as sentences.
std::vector<std::string> Differences(const JobRecord& record, const job::Outcome& outcome) {
  std::vector<std::string> differences;
  for (const ReportFile& expected : record.outputs) {
    const Blob* bytes = FindResult(outcome, expected);
    if (bytes == nullptr) {
      differences.push_back(fmt::format("'{}' is not made any more", expected.name));
      continue;
    }
    const std::string digest = Sha256OfMapped(bytes->bytes());
    if (digest == expected.sha256) continue;
    differences.push_back(fmt::format("'{}' has sha256:{}, in the report sha256:{}", expected.name,
                                      digest, expected.sha256));
  }
  if (outcome.external.size() + 1 > record.outputs.size()) {
    differences.emplace_back("there are more files than in the report");
  }
  return differences;
}

Failure NotReproduced(const std::vector<std::string>& differences, const JobRecord& record) {
  const bool same = record.version == Version();
  return Fail(Code::kInternal, "the job does not give the report's bytes: {}{}",
              fmt::join(differences, "; "),
              same ? ""
                   : fmt::format(" (the report is of octavo {}, this is {})", record.version,
                                 Version()))
      .Reason("DIGEST_MISMATCH");
}

void PrintReproduced(const Invocation& invocation, const JobRecord& record) {
  if (!invocation.json) {
    for (const ReportFile& file : record.outputs) {
      invocation.host.out << fmt::format("{} is reproduced: sha256:{}\n", file.name, file.sha256);
    }
    return;
  }
  nlohmann::json files = nlohmann::json::array();
  for (const ReportFile& file : record.outputs) {
    files.push_back({{"name", file.name}, {"sha256", file.sha256}});
  }
  invocation.host.out << nlohmann::json({{"reproduced", true}, {"outputs", files}}).dump() << '\n';
}

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(const job::NamedBlob report, ReadNamed(arguments.report));
  OCTAVO_TRY(const JobRecord record, ReadRecord(report.bytes.text()));
  OCTAVO_TRY(const job::Request request, RequestOf(invocation, arguments, record));
  ProgressPrinter printer(invocation);
  OCTAVO_TRY(const job::Outcome outcome,
             invocation.host.run_job(request, invocation.host.stop,
                                     [&](const job::Progress& p) { printer.Show(p); }));
  const std::vector<std::string> differences = Differences(record, outcome);
  if (!differences.empty()) return NotReproduced(differences, record);
  PrintReproduced(invocation, record);
  return kExitDone;
}

}  // namespace

void AddReproduce(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "reproduce",
      "run the job of a report again and compare the bytes of its result; other bytes are exit 1");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("REPORT", arguments->report, "the report of `octavo optimize`, JSON")
      ->required();
  command
      .add_option("--from", arguments->from,
                  "folder with files of the job; also searched: the report's and the current one")
      ->type_name("DIR")
      ->allow_extra_args(false);
  AddDataFlag(command, arguments->samples,
              "the samples as the job had them, instead of --from and the names in the report");
  AddEvaluateFlag(command, arguments->samples);
  AddLabelsFlag(command, arguments->samples);
  arguments->flags.Add(command, "threads");
  AddLimitFlags(command, arguments->limits);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
