// SPDX-License-Identifier: Apache-2.0
// Whether two reports are of the same model and samples, and which inputs and options differ.
#pragma once

#include <optional>
#include <vector>

#include "client/cli/comparison.h"
#include "octavo/v1/report.pb.h"

namespace octavo::cli {

// Unset if a report does not list its inputs.
std::optional<bool> SameModel(const v1::Report& before, const v1::Report& after);
// Whether the figures of both are of the same samples, read in the same way.  Unset if a report has
// no figures or does not list its inputs.
std::optional<bool> SameSamples(const v1::Report& before, const v1::Report& after);

// By name.  Options that no flag sets are left out: they are the folder's and the file's.
std::vector<OptionChange> CompareOptions(const v1::Report& before, const v1::Report& after);
// In the order of the reports.  A file of the same bytes may have another name.
std::vector<InputChange> CompareInputs(const v1::Report& before, const v1::Report& after);

}  // namespace octavo::cli
