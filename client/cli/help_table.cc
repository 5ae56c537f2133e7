// SPDX-License-Identifier: Apache-2.0
#include "client/cli/help_table.h"

#include <algorithm>
#include <iterator>

namespace octavo::cli {
namespace {

constexpr std::string_view kOptimize[] = {
    "octavo optimize model.onnx --data calibration.npz -o int8.onnx --report report.json",
    "octavo optimize model.onnx --data images --image crop=center,mean=0.5,std=0.5 -o int8.onnx",
    "octavo optimize model.onnx --data calibration.npz -o gated.onnx --require-sqnr 20",
    "octavo optimize model.onnx --data calibration.npz -o mixed.onnx --keep-float "
    "'Softmax,/head/*'",
};
constexpr std::string_view kReproduce[] = {"octavo reproduce report.json"};
constexpr std::string_view kCompare[] = {
    "octavo optimize model.onnx --data calibration.npz --calibration mse -o mse.onnx --report "
    "mse.json",
    "octavo compare report.json mse.json --fail-below 1"};
constexpr std::string_view kProfile[] = {
    "octavo profile model.onnx --data calibration.npz -o profile.json"};
constexpr std::string_view kMerge[] = {
    "octavo merge-profiles profile.json profile.json -o merged.json"};
constexpr std::string_view kRun[] = {"octavo run int8.onnx --data calibration.npz -o outputs"};
constexpr std::string_view kDiff[] = {
    "octavo diff model.onnx int8.onnx --data calibration.npz --html diff.html"};
constexpr std::string_view kVerify[] = {
    "octavo optimize model.onnx --data calibration.npz -o int8.onnx --rounding nearest "
    "--certificate job.certificate",
    "octavo verify model.onnx int8.onnx job.certificate"};
constexpr std::string_view kInspect[] = {"octavo inspect model.onnx",
                                         "octavo inspect model.onnx --text"};
constexpr std::string_view kBench[] = {"octavo bench model.onnx --threads 1 --runs 5"};
constexpr std::string_view kPasses[] = {"octavo passes"};
constexpr std::string_view kOps[] = {"octavo ops --json"};
constexpr std::string_view kTargets[] = {"octavo targets"};
constexpr std::string_view kOptions[] = {"octavo options"};
constexpr std::string_view kWarnings[] = {"octavo warnings"};
constexpr std::string_view kHealth[] = {"octavo health --server 127.0.0.1:50051"};
constexpr std::string_view kJobs[] = {"octavo jobs --server 127.0.0.1:50051 --state running"};
constexpr std::string_view kWatch[] = {"octavo watch ID --server 127.0.0.1:50051"};
constexpr std::string_view kCancel[] = {"octavo cancel ID --server 127.0.0.1:50051"};
constexpr std::string_view kResult[] = {"octavo result ID -o int8.onnx --server 127.0.0.1:50051"};

constexpr CommandHelp kCommands[] = {
    {"optimize", "Quantize", kOptimize},
    {"reproduce", "Quantize", kReproduce},
    {"profile", "Calibrate", kProfile},
    {"merge-profiles", "Calibrate", kMerge},
    {"run", "Examine models", kRun},
    {"diff", "Examine models", kDiff},
    {"compare", "Examine models", kCompare},
    {"verify", "Examine models", kVerify},
    {"inspect", "Examine models", kInspect},
    {"bench", "Examine models", kBench},
    {"passes", "Lists", kPasses},
    {"ops", "Lists", kOps},
    {"targets", "Lists", kTargets},
    {"options", "Lists", kOptions},
    {"warnings", "Lists", kWarnings},
    {"health", "Services", kHealth},
    {"jobs", "Services", kJobs},
    {"watch", "Services", kWatch},
    {"cancel", "Services", kCancel},
    {"result", "Services", kResult},
};

// The groups of job options are those of core/options.
constexpr std::string_view kGroups[] = {
    "Inputs", "Inputs of the model", "Outputs", "Quantization", "Rewriting", "Result",
    "Checks", "Execution",           "Service", "Limits",       "General",
};

struct FlagGroup {
  std::string_view flag = {};
  std::string_view group = {};
};
constexpr FlagGroup kFlagGroups[] = {
    {"--data", "Inputs"},
    {"--profile", "Inputs"},
    {"--labels", "Inputs"},
    {"--values-from", "Inputs"},
    {"--options-from", "Inputs"},
    {"--from", "Inputs"},
    {"--target", "Inputs"},
    {"--output", "Outputs"},
    {"--report", "Outputs"},
    {"--html", "Outputs"},
    {"--snapshots", "Outputs"},
    {"--certificate", "Outputs"},
    {"--depfile", "Outputs"},
    {"--trace", "Outputs"},
    {"--text", "Outputs"},
    {"--markdown", "Outputs"},
    {"--values", "Outputs"},
    {"--profile-ops", "Outputs"},
    {"--keep-float-from", "Quantization"},
    {"--against", "Checks"},
    {"--fail-on-warning", "Checks"},
    {"--fail-below", "Checks"},
    {"--by-rule", "Checks"},
    {"--each", "Checks"},
    {"--runs", "Execution"},
    {"--server", "Service"},
    {"--timeout", "Service"},
    {"--retry-for", "Service"},
    {"--detach", "Service"},
    {"--priority", "Service"},
    {"--no-cache", "Service"},
    {"--state", "Service"},
    {"--limit", "Service"},
    {"--max-nodes", "Limits"},
    {"--max-value-bytes", "Limits"},
};

constexpr Variable kVariables[] = {
    {"OCTAVO_SERVER", "the address for --server", "--server"},
    {"OCTAVO_ISA", "the newest instruction set to use: portable, sse4, avx2, avx512, avx512vnni"},
    {"COLUMNS", "width of the screen"},
    {"NO_COLOR", "if not empty: no colors; progress and texts stay the same"},
    {"TERM", "dumb: progress as lines instead of a bar, and no colors"},
};

}  // namespace

std::span<const CommandHelp> CommandTable() { return kCommands; }

std::span<const std::string_view> FlagGroups() { return kGroups; }

std::string_view GroupOfFlag(std::string_view flag) {
  const auto* row = std::ranges::find(kFlagGroups, flag, &FlagGroup::flag);
  return row == std::end(kFlagGroups) ? "General" : row->group;
}

std::span<const Variable> Variables() { return kVariables; }

std::string_view VariableOfFlag(std::string_view flag) {
  const auto* row = std::ranges::find(kVariables, flag, &Variable::flag);
  return row == std::end(kVariables) ? std::string_view() : row->name;
}

}  // namespace octavo::cli
