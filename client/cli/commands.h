// The list of commands: adding one is its file and one line here and in commands.cc.
#pragma once

#include <span>

#include "client/cli/command.h"

namespace octavo::cli {

void AddOptimize(CLI::App& program, Invocation& invocation);
void AddHealth(CLI::App& program, Invocation& invocation);
void AddJobs(CLI::App& program, Invocation& invocation);

std::span<const AddCommand> Commands();

}  // namespace octavo::cli
