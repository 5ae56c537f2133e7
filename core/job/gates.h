// SPDX-License-Identifier: Apache-2.0
// The gates of a job: what --require-sqnr and --require-cosine demand of every output.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/options/options.h"
#include "octavo/v1/report.pb.h"

namespace octavo::job {

bool HasGate(const Options& options);

// Whether samples of this name are drawn: "random:SEED[:N]", "evaluate:random:SEED".
bool IsRandom(std::string_view samples);

// kUsage, with the gate as the field, if a gate would judge by random samples without
// --allow-random.  `samples` are the names of a request's samples.
Status CheckGateSamples(const Options& options, const std::vector<std::string>& samples);

// The message of the last gate that fails; empty if all hold.  An output that equals the float
// model's holds every gate, and an undefined figure none.
std::string FailedGate(const Options& options, std::span<const v1::ValueNumerics> outputs);

}  // namespace octavo::job
