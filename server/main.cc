// SPDX-License-Identifier: Apache-2.0
// octavod: the optimizer as a service.  Connects the core's job to the daemon.
#include "server/catalog_of_core.h"
#include "server/daemon/run.h"
#include "server/runner_of_config.h"

// For jemalloc (its manual, "malloc_conf"): what a burst of calls or a job has freed goes back to
// the system after 0.1 s, by a thread of its own.  Without, 250 MiB stay after a flood of calls.
// One arena: a chunk that one thread receives and another frees is used again at once.  With an
// arena per thread, uploads were a third slower and took 30 MiB more.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:100,muzzy_decay_ms:0,narenas:1";
}

int main(int argc, char** argv) {
  return octavo::server::RunOctavod(argc, argv, octavo::server::CatalogOfCore(),
                                    &octavo::server::RunnerOfConfig);
}
