// SPDX-License-Identifier: Apache-2.0
#include "client/cli/standard_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "core/base/spool.h"

namespace octavo::cli {
namespace {

constexpr int kLookEvery = 50;  // milliseconds

}  // namespace

Result<job::NamedBlob> ReadStandardInput(const StopToken& stop) {
  Spool spool;
  std::vector<std::byte> part(size_t{1} << 20);
  for (;;) {
    OCTAVO_CHECK(stop.Check());
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&input, 1, kLookEvery) <= 0) continue;  // nothing yet, or a signal
    const ssize_t count = read(STDIN_FILENO, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Fail(Code::kUsage, "cannot read standard input: {}", std::strerror(errno))
          .Field("--data");
    }
    if (count == 0) break;
    OCTAVO_CHECK(spool.Append(std::span(part).first(static_cast<size_t>(count))));
  }
  OCTAVO_TRY(Blob bytes, spool.Finish());
  if (bytes.text().starts_with("PK")) return job::NamedBlob{"stdin.npz", std::move(bytes)};
  if (bytes.text().starts_with("\x93NUMPY")) return job::NamedBlob{"stdin.npy", std::move(bytes)};
  return Fail(Code::kInvalidArgument, "standard input is neither .npz nor .npy").Field("--data");
}

}  // namespace octavo::cli
