// SPDX-License-Identifier: Apache-2.0
// The version of this build.  It is part of every action digest; the revision and the build type
// are not, since they do not change results.
#pragma once

#include <string>
#include <string_view>

namespace octavo {

// The content of the file VERSION, "0.1.0".
std::string_view Version();

// CMake's build type, "Release".
std::string_view BuildType();

// What --version prints after the program's name:
// "0.1.0 (revision 2ca216d4bd7c, Release, avx512vnni)", the instruction set being CurrentIsa().
std::string VersionText(std::string_view revision);

}  // namespace octavo
