// From the wire's first message to the session's own terms.
#pragma once

#include "core/base/status.h"
#include "octavo/v1/optimizer.pb.h"
#include "server/session/event.h"
#include "server/session/spec.h"

namespace octavo::server {

// kInvalidArgument with the field's path where the message cannot mean anything; CheckSpec judges
// the rest.
Result<JobSpec> SpecFromWire(const v1::Spec& spec);

v1::OptimizeEvent EventToWire(Event event);

}  // namespace octavo::server
