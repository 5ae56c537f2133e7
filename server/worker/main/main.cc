// SPDX-License-Identifier: Apache-2.0
// octavo-worker: computes one job for octavod, locked in.
#include "core/base/revision.h"
#include "core/job/job.h"
#include "server/worker/rehearsal.h"
#include "server/worker/worker.h"

// jemalloc would keep freed address space, which counts against the limit of a worker's data.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "retain:false,muzzy_decay_ms:0";
}

int main(int argc, char** argv) {
  octavo::server::worker::RunWorker(argc, argv,
                                    octavo::server::worker::BuildText(octavo::Revision()),
                                    &octavo::job::Run, octavo::server::worker::RehearsalRequest());
}
