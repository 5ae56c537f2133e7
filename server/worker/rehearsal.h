// SPDX-License-Identifier: Apache-2.0
// A small job that a worker runs while it waits for its own.  The first job of a process pays for
// pages of code and of memory, tables and instruction sets; after a rehearsal, a job has 470 page
// faults instead of 670 (tests/bench/README.md).
#pragma once

#include "core/job/job.h"

namespace octavo::server::worker {

job::Request RehearsalRequest();

}  // namespace octavo::server::worker
