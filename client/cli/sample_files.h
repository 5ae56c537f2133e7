// SPDX-License-Identifier: Apache-2.0
// The flags of samples, and the files that they name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/job/job.h"

namespace octavo::cli {

struct SampleArguments {
  std::vector<std::string> data = {};
  std::vector<std::string> evaluate = {};
  std::string labels = {};
  std::string values_from = {};
};

// Adds --data; `use` begins its help.
void AddDataFlag(CLI::App& command, SampleArguments& arguments, const std::string& use);

// Adds --evaluate, for commands that run a job.
void AddEvaluateFlag(CLI::App& command, SampleArguments& arguments);

// Adds --labels, for commands that write a report.
void AddLabelsFlag(CLI::App& command, SampleArguments& arguments);

// Adds --values-from.
void AddValuesFlag(CLI::App& command, SampleArguments& arguments);

struct SampleFiles {
  std::vector<job::NamedBlob> samples = {};
  std::vector<std::string> paths = {};
};
// Maps the files of --data, --values-from, --evaluate and --labels for job::Request::samples, in
// this order: as given, the files of a folder or a pattern by the bytes of their names.  Without
// any, there are none.  The stop's error within 100 ms.
Result<SampleFiles> ReadSamples(const SampleArguments& arguments, const StopToken& stop);

// Packs the files into one archive if they are many; those of --evaluate into one of their own.
Status PackSamples(const StopToken& stop, std::vector<job::NamedBlob>& samples);

}  // namespace octavo::cli
