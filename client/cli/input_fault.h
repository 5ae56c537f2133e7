// SPDX-License-Identifier: Apache-2.0
// What happens when a mapped input cannot be read: an access to it raises SIGBUS.
#pragma once

namespace octavo::cli {

enum class FaultForm { kLine, kJson };

// Installs a handler of SIGBUS for the whole process.  If the faulting address is in a mapped
// input, it prints an error like any other and ends the process: exit 3 (INPUT_CHANGED) if the file
// was truncated or replaced, else exit 1 (IO).  Any other SIGBUS ends the process as without it.
void ReportInputFaults(FaultForm form);

}  // namespace octavo::cli
