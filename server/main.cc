// SPDX-License-Identifier: Apache-2.0
// octavod: the optimizer as a service.  Connects the core's job to the daemon.
#include "server/catalog_of_core.h"
#include "server/daemon/run.h"
#include "server/runner_of_config.h"

int main(int argc, char** argv) {
  return octavo::server::RunOctavod(argc, argv, octavo::server::CatalogOfCore(),
                                    &octavo::server::RunnerOfConfig);
}
