// SPDX-License-Identifier: Apache-2.0
#include "core/base/status.h"

namespace octavo {

std::string_view DefaultReason(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "INVALID_MODEL";
    case Code::kUsage:
      return "USAGE";
    case Code::kUnimplemented:
      return "UNSUPPORTED";
    case Code::kResourceExhausted:
      return "OVERLOADED";
    case Code::kTooLarge:
      return "TOO_LARGE";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kAborted:
      return "WORKER_CRASHED";
    case Code::kInternal:
      return "INTERNAL";
  }
  return "INTERNAL";
}

}  // namespace octavo
