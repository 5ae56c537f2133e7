// SPDX-License-Identifier: Apache-2.0
// What a worker sends to its server.  Thread-safe.
#pragma once

#include "octavo/worker/v1/worker.pb.h"

namespace octavo::server::worker {

namespace v1 = octavo::worker::v1;

// Ends the process if the server is gone.
void Say(const v1::FromWorker& frame);

// Sends the node that was being computed, if any, unless another frame is on its way.  Allocates
// nothing; may be called by a signal handler.
void SayLastWords();

// Calls SayLastWords when a signal ends the process.
void SayLastWordsOnSignals();

}  // namespace octavo::server::worker
