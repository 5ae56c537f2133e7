// SPDX-License-Identifier: Apache-2.0
// The peak speed of the processor: nothing but products of bytes in registers.
#pragma once

namespace octavo::bench {

// Whether this machine has vpdpbusd on 512-bit registers; the peak is its rate.
bool HasPeak();

// Runs them for about 50 microseconds.  Returns the number of operations; a multiply-add counts as
// two.
double RunPeak();

}  // namespace octavo::bench
