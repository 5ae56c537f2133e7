// SPDX-License-Identifier: Apache-2.0
// The interface of a command's file: one function that adds its subcommand, and the flags that all
// commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "client/cli/host.h"

namespace octavo::cli {

// One run of the program.  A command's parse callback sets `action`; the exit code is its result.
struct Invocation {
  const Host& host;
  bool json = false;
  bool quiet = false;
  std::string server = {};  // HOST:PORT; empty: run in this process
  std::function<Result<int>()> action = {};
};

// --json and --quiet.
void AddCommonFlags(CLI::App& command, Invocation& invocation);
// --server, else OCTAVO_SERVER.
void AddServerFlag(CLI::App& command, Invocation& invocation);

// Adds a command with its flags to the program.
using AddCommand = void (*)(CLI::App& program, Invocation& invocation);

}  // namespace octavo::cli
