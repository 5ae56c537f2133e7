// SPDX-License-Identifier: Apache-2.0
// What the processor could do at best: products of bytes in registers, nothing else.
#pragma once

namespace octavo::bench {

// Whether this machine has vpdpbusd on 512 bits, whose rate is the peak.
bool HasPeak();

// Runs as many of them as take some 50 microseconds; the operations done, a multiply-add being two.
double RunPeak();

}  // namespace octavo::bench
