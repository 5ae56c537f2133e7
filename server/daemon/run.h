// What main does, given what it serves: reads the configuration, serves until a signal, drains.
#pragma once

#include "server/service/catalog.h"
#include "server/session/scheduler.h"

namespace octavo::server {

// The exit code: 0 after a drain, 2 for a usage error, 1 for anything else.
int RunOctavod(int argc, char** argv, const Catalog& catalog, JobRunner runner);

}  // namespace octavo::server
