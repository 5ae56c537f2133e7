// SPDX-License-Identifier: Apache-2.0
#include "server/store/failpoint.h"

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>

namespace octavo::server {
namespace {

constexpr FailpointInfo kFailpoints[] = {
#define OCTAVO_FAILPOINT_INFO(enumerator, name, next) {Failpoint::enumerator, name, next},
    OCTAVO_FAILPOINTS(OCTAVO_FAILPOINT_INFO)
#undef OCTAVO_FAILPOINT_INFO
};

constexpr int kNone = -1;
constexpr int kKill = -1;

std::atomic<int> selected = kNone;
std::atomic<int64_t> passes_left = 0;  // before the action
int action = 0;                        // kKill or an errno

Result<int> ActionOf(std::string_view name) {
  if (name == "kill") return kKill;
  if (name == "eio") return EIO;
  if (name == "enospc") return ENOSPC;
  return Fail(Code::kUsage, "unknown action '{}' of a failpoint; it is kill, eio or enospc", name)
      .Field("OCTAVO_FAILPOINT");
}

Result<int> PointOf(std::string_view name) {
  std::string known;
  for (const FailpointInfo& info : kFailpoints) {
    if (info.name == name) return static_cast<int>(info.point);
    known += fmt::format(" {}", info.name);
  }
  return Fail(Code::kUsage, "unknown failpoint '{}'; there are{}", name, known)
      .Field("OCTAVO_FAILPOINT");
}

}  // namespace

std::span<const FailpointInfo> Failpoints() { return kFailpoints; }

Status SetFailpoint(std::string_view text) {
  selected = kNone;
  if (text.empty()) return {};
  const size_t colon = text.find(':');
  if (colon == text.npos) {
    return Fail(Code::kUsage, "'{}' must be NAME:ACTION or NAME:ACTION@N", text)
        .Field("OCTAVO_FAILPOINT");
  }
  OCTAVO_TRY(const int point, PointOf(text.substr(0, colon)));
  std::string_view rest = text.substr(colon + 1);
  int64_t count = 1;
  if (const size_t at = rest.find('@'); at != rest.npos) {
    const std::string_view digits = rest.substr(at + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc() || end != digits.data() + digits.size() || count < 1) {
      return Fail(Code::kUsage, "'{}' must be a positive number", digits).Field("OCTAVO_FAILPOINT");
    }
    rest = rest.substr(0, at);
  }
  OCTAVO_TRY(action, ActionOf(rest));
  passes_left = count - 1;
  selected = point;
  return {};
}

int Reach(Failpoint point) {
  if (selected.load(std::memory_order_relaxed) != static_cast<int>(point)) return 0;
  if (passes_left.fetch_sub(1) > 0) return 0;
  if (action == kKill) raise(SIGKILL);
  return action;
}

}  // namespace octavo::server
