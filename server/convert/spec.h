// SPDX-License-Identifier: Apache-2.0
// Converts protobuf messages to plain structs and back.
#pragma once

#include "core/base/status.h"
#include "octavo/v1/optimizer.pb.h"
#include "server/session/event.h"
#include "server/session/spec.h"

namespace octavo::server {

// Checks the options; CheckSpec checks the blobs.  An error's field is the path in the spec:
// "spec.options.schema", "spec.blobs[2].role".
Result<JobSpec> SpecFromWire(const v1::Spec& spec);
// Checks priority and labels.  Without ids, client and digest.
Result<NewJob> NewJobOf(const v1::Spec& spec);

v1::OptimizeEvent EventToWire(Event event);

}  // namespace octavo::server
