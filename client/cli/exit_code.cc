// SPDX-License-Identifier: Apache-2.0
#include "client/cli/exit_code.h"

namespace octavo::cli {
namespace {

constexpr ExitCode kExitCodes[] = {
    {kExitDone, "done"},
    {1, "internal error, a file that cannot be written, or other bytes than expected"},
    {kExitUsage, "wrong usage"},
    {3, "invalid model, profile or data, or an input that changed during the job"},
    {4, "valid but unsupported"},
    {kExitGateFailed,
     "a gate failed (--require-*, --fail-on-warning, --fail-below); the outputs are written"},
    {6, "service unavailable, or deadline exceeded"},
    {7, "too large"},
    {8, "cancelled"},
    {9, "the job crashed its worker"},
};

}  // namespace

std::span<const ExitCode> ExitCodes() { return kExitCodes; }

int ExitCodeOf(Code code) {
  switch (code) {
    case Code::kUsage:
      return kExitUsage;
    case Code::kInvalidArgument:
      return 3;
    case Code::kUnimplemented:
      return 4;
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
      return 6;
    case Code::kTooLarge:
      return 7;
    case Code::kCancelled:
      return 8;
    case Code::kAborted:
      return 9;
    case Code::kInternal:
      return 1;
  }
  return 1;
}

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kUsage:
      return "USAGE";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kUnimplemented:
      return "UNIMPLEMENTED";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kTooLarge:
      return "FAILED_PRECONDITION";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kAborted:
      return "ABORTED";
    case Code::kInternal:
      return "INTERNAL";
  }
  return "INTERNAL";
}

}  // namespace octavo::cli
