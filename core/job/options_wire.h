// SPDX-License-Identifier: Apache-2.0
// Options to octavo.v1.Options and back, by the names of the table's rows.
#pragma once

#include "core/base/status.h"
#include "core/options/options.h"
#include "octavo/v1/options.pb.h"

namespace octavo::job {

v1::Options OptionsToWire(const Options& options);

// A field that is not set leaves the option at its default.  kUsage with the option as the field
// for a wrong value; fields that this version does not know are ignored.
Result<Options> OptionsFromWire(const v1::Options& wire);

}  // namespace octavo::job
