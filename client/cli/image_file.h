// SPDX-License-Identifier: Apache-2.0
// The file that --image may name instead of keys.
#pragma once

#include "core/options/options.h"

namespace octavo::cli {

// Replaces --image FILE.toml or FILE.yaml by the keys in the file, at its top or in its table
// `image`; other tables are not read.  An error names the file and the key.
Status ReadImageFile(Options& options);

}  // namespace octavo::cli
