// SPDX-License-Identifier: Apache-2.0
// The digest of everything that a job's results depend on.  Equal digests mean equal bytes of every
// result, with `deterministic` of the report too, so a result can be kept under it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/options/options.h"

namespace octavo::job {

enum class InputRole { kModel, kExternal, kProfile, kSamples, kTarget };

// An input as it is declared before its bytes are there.
struct DeclaredInput {
  InputRole role = InputRole::kModel;
  std::string name = {};
  uint64_t size = 0;        // bytes
  std::string sha256 = {};  // 64 hexadecimal digits
};

// "model", "external", "profile", "samples" or "target".
std::string_view Name(InputRole role);

// "sha256:" and 64 hexadecimal digits: the digest of a text of length-prefixed fields, namely
//   octavo-action 1
//   the version, and the digest of the sources that compute results
//   the options as JSON in table order, defaults filled in, without those that change no result
//   for each input its role, name, size and digest; inputs are sorted
// The options are those that the client gave: what a target chooses follows from its name, or from
// its file, whose path does not count.
std::string ActionDigest(Options options, std::vector<DeclaredInput> inputs);

}  // namespace octavo::job
