// SPDX-License-Identifier: Apache-2.0
// Converts Options to octavo.v1.Options and back.  A field has the name of the option's row in the
// table.
#pragma once

#include "core/base/status.h"
#include "core/options/options.h"
#include "octavo/v1/options.pb.h"

namespace octavo::job {

v1::Options OptionsToWire(const Options& options);

// An unset field leaves the option at its default.  kUsage for a wrong value, with the option as
// the field.  Ignores fields that this version does not know.
Result<Options> OptionsFromWire(const v1::Options& wire);

}  // namespace octavo::job
