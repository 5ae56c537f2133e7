// SPDX-License-Identifier: Apache-2.0
// --advise: which other options raise the SQNR of the job's outputs, and by how much.
#pragma once

#include "core/job/error_shares.h"
#include "core/job/stages.h"

namespace octavo::job {

// Runs the job again with other options, at most 12 times, and measures the worst output on the
// samples that evaluate, whose SQNR in `sqnr_db` is that of the job itself.  Tries other
// calibration methods, roundings and output types, 16-bit activations, 16 bits for the groups with
// the largest shares, floats for their nodes, and what helped together.  Returns at most 8 that
// gain at least 0.1 dB, by falling gain.
Result<std::vector<v1::Advice>> Advise(const JobContext& job, const ErrorShares& shares,
                                       double sqnr_db);

}  // namespace octavo::job
