// SPDX-License-Identifier: Apache-2.0
// An open file descriptor, closed at the end of its scope.
#pragma once

#include <unistd.h>

namespace octavo {

struct Descriptor {
  int fd = -1;

  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace octavo
