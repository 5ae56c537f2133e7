// SPDX-License-Identifier: Apache-2.0
// The interface of a command's file: the function that adds its subcommand, and the flags that all
// commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "client/cli/host.h"

namespace octavo::cli {

// One run of the program.  A command's parse callback sets `action`, which returns the exit code.
struct Invocation {
  const Host& host;
  bool json = false;
  bool quiet = false;       // errors only
  bool verbose = false;     // of commands with AddVerboseFlag
  std::string server = {};  // HOST:PORT; empty: run in this process
  std::function<Result<int>()> action = {};
};

// Adds --json and --quiet.
void AddCommonFlags(CLI::App& command, Invocation& invocation);
// Adds --server; its default is OCTAVO_SERVER.
void AddServerFlag(CLI::App& command, Invocation& invocation);

// Adds a command and its flags to the program.
using AddCommand = void (*)(CLI::App& program, Invocation& invocation);

}  // namespace octavo::cli
