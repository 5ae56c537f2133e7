// SPDX-License-Identifier: Apache-2.0
// The request of a job, from its spec and its inputs.
#pragma once

#include "core/job/job.h"
#include "server/session/limits.h"
#include "server/session/spec.h"

namespace octavo::server {

// Without inputs; the threads are at most those of the limits.
job::Request RequestOf(const Options& options, const Limits& limits);
Status AddInput(job::Request& request, const BlobInfo& info, Blob bytes);

}  // namespace octavo::server
