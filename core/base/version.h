// SPDX-License-Identifier: Apache-2.0
// Octavo's version.  The version is part of every action digest, with the digest of the sources
// (engine.h); the revision and the build type are not, because they do not change results.
#pragma once

#include <string>
#include <string_view>

namespace octavo {

// The content of the file VERSION, for example "0.1.0".
std::string_view Version();

// CMake's build type, for example "Release".
std::string_view BuildType();

// The text that --version prints after the program's name: "0.1.0 (revision 2ca216d4bd7c, Release,
// avx512vnni)".  The instruction set is CurrentIsa().
std::string VersionText(std::string_view revision);

}  // namespace octavo
