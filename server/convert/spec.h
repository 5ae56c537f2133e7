// SPDX-License-Identifier: Apache-2.0
// Converts messages to plain values and back.
#pragma once

#include "core/base/status.h"
#include "octavo/v1/optimizer.pb.h"
#include "server/session/event.h"
#include "server/session/spec.h"

namespace octavo::server {

// The options are checked here, the blobs by CheckSpec.  An error's field is the path in the spec:
// "spec.options.schema", "spec.blobs[2].role".
Result<JobSpec> SpecFromWire(const v1::Spec& spec);

v1::OptimizeEvent EventToWire(Event event);

}  // namespace octavo::server
