// SPDX-License-Identifier: Apache-2.0
// octavod's main function: reads the configuration, serves until a signal, drains.
#pragma once

#include "server/daemon/daemon.h"
#include "server/service/catalog.h"

namespace octavo::server {

// Returns the exit code: 0 after a drain, 2 for a usage error, 1 for any other error.
int RunOctavod(int argc, char** argv, const Catalog& catalog, const RunnerMaker& maker);

}  // namespace octavo::server
