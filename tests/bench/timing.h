// SPDX-License-Identifier: Apache-2.0
// The processor time of the calling thread, which a busy machine disturbs little, and the least
// time of several alternating runs.
#pragma once

#include <time.h>

#include <algorithm>

namespace octavo::bench {

inline double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Keeps the least time over its calls.
class Least {
 public:
  template <class F>
  void Time(F&& call) {
    const double before = ThreadSeconds();
    call();
    Take(ThreadSeconds() - before);
  }
  void Take(double seconds) { seconds_ = std::min(seconds_, seconds); }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 1e9;
};

}  // namespace octavo::bench
