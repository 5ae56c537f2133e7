// SPDX-License-Identifier: Apache-2.0
// A job's rewrites as data: for each pass, the rules that it applied and the lines of the graph's
// canonical text (core/text) that it replaced.  README.md describes the file.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/blob.h"

namespace octavo::verify {

// Replaces the lines `before`, which start at line `at` (from 0) of the text before the pass.
struct Edit {
  int64_t at = 0;
  std::vector<std::string> before = {};
  std::vector<std::string> after = {};
};

// One application of a rewrite rule, as in the job's ledger.
struct Application {
  std::string pass = {};
  std::string rule = {};
  std::string effect = {};
  std::string node = {};
  std::vector<std::string> values = {};
};

// The applications between two graphs, and how the text of the first becomes that of the second.
struct Step {
  std::vector<Application> applications = {};
  std::vector<Edit> edits = {};  // in order of `at`, without overlap
};

struct Certificate {
  std::string octavo_version = {};
  std::string numerics_mode = {};
  nlohmann::ordered_json options = {};  // of the job, as in its report
  nlohmann::ordered_json rules = {};    // the rows of the rules that were applied
  std::string before_sha256 = {};       // of the text of the imported graph
  std::vector<Step> steps = {};
  // Constant data by SHA-256: what the graphs after a step have and the first graph has not.
  std::map<std::string, Blob, std::less<>> data = {};
};

// kInvalidArgument about the certificate.
template <class... Args>
Failure Refuse(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, format, std::forward<Args>(args)...).Field("certificate");
}

// core/job writes certificates.
// kInvalidArgument naming the line and the field; kTooLarge beyond a bound of README.md.  Every
// size is checked before it is used; the data are views of `bytes` and have their digests.
Result<Certificate> Read(const Blob& bytes);

// Applies the edits.  kInvalidArgument if a line that an edit replaces is not there.
Result<std::vector<std::string>> Apply(const std::vector<std::string>& from,
                                       const std::vector<Edit>& edits);

// The lines of a text, which end with '\n'; and the text of lines.
std::vector<std::string> LinesOf(std::string_view text);
std::string TextOf(const std::vector<std::string>& lines);

}  // namespace octavo::verify
