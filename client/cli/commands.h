// SPDX-License-Identifier: Apache-2.0
// The list of commands.  A new command needs its own file and one line here and in commands.cc.
#pragma once

#include <span>

#include "client/cli/command.h"

namespace octavo::cli {

void AddOptimize(CLI::App& program, Invocation& invocation);
void AddReproduce(CLI::App& program, Invocation& invocation);
void AddCompare(CLI::App& program, Invocation& invocation);
void AddProfile(CLI::App& program, Invocation& invocation);
void AddMergeProfiles(CLI::App& program, Invocation& invocation);
void AddRun(CLI::App& program, Invocation& invocation);
void AddDiff(CLI::App& program, Invocation& invocation);
void AddVerify(CLI::App& program, Invocation& invocation);
void AddInspect(CLI::App& program, Invocation& invocation);
void AddBench(CLI::App& program, Invocation& invocation);
void AddLists(CLI::App& program, Invocation& invocation);
void AddHealth(CLI::App& program, Invocation& invocation);
void AddJobs(CLI::App& program, Invocation& invocation);

std::span<const AddCommand> Commands();

}  // namespace octavo::cli
