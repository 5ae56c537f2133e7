// SPDX-License-Identifier: Apache-2.0
// For the command line: CLI11's header takes longer to parse than all that library.h names.
#pragma once

#include <CLI/CLI.hpp>

#include "cmake/pch/library.h"
