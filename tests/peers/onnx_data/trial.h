// SPDX-License-Identifier: Apache-2.0
// One case, tried: imported, run in every way that the project has, compared with its answers.
#pragma once

#include <string>

#include "tests/peers/onnx_data/cases.h"

namespace octavo::onnx_data {

enum class Verdict {
  kPassed,
  kUnsupported,  // valid, and refused as not supported
  kRefused,      // refused as invalid
  kFailed,       // another result than the data's
  kCrashed,
};

struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string message = {};
};

// Runs the case in this process.
Outcome Try(const Case& entry);

// Runs the case in a child process, so that a crash is an outcome.  `seconds` bounds it.
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
