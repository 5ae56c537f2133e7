// SPDX-License-Identifier: Apache-2.0
// Checks that values excluded by a Relu stay excluded.  An operand cannot be negative if a Relu (a
// Sigmoid, ..) produces it or if its type ends at zero.  After any pass, under any limit, the
// consuming op must not read a negative value there.  The same applies to outputs, and to positive
// values.
#pragma once

#include "core/target/target.h"
#include "tests/core/properties/run_values.h"

namespace octavo::test {

Status CheckSigns(const target::Target& target, const ir::Graph& before, const ir::Graph& after,
                  const RunValues& is);

}  // namespace octavo::test
