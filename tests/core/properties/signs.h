// SPDX-License-Identifier: Apache-2.0
// What a Relu keeps out stays out: where an op reads a value that no negative real can be in, since
// it is a Relu's (a Sigmoid's, ..) or its type ends at zero, it reads none after any pass, under
// any limit; and no output gives one.
#pragma once

#include "core/target/target.h"
#include "tests/core/properties/run_values.h"

namespace octavo::test {

Status CheckSigns(const target::Target& target, const ir::Graph& before, const ir::Graph& after,
                  const RunValues& is);

}  // namespace octavo::test
