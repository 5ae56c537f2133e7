// SPDX-License-Identifier: Apache-2.0
// Runs one case: imports it, executes it in every way the project has, and compares the results.
#pragma once

#include <string>

#include "tests/peers/onnx_data/cases.h"

namespace octavo::onnx_data {

enum class Verdict {
  kPassed,
  kUnsupported,  // valid, but refused as not supported
  kRefused,      // refused as invalid
  kFailed,       // result differs from the data's
  kCrashed,
};

struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string message = {};
};

// Runs the case in this process.
Outcome Try(const Case& entry);

// Runs the case in a child process, so that a crash is an outcome.  `seconds` limits its duration.
class Trial {
 public:
  Trial(const Case& entry, int seconds);
  Trial(Trial&& other) noexcept;
  Trial& operator=(Trial&&) = delete;
  ~Trial();

  // Waits for the child.
  Outcome Finish();

 private:
  int pid_ = -1;
  int pipe_ = -1;
};

}  // namespace octavo::onnx_data
