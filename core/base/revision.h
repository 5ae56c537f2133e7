// SPDX-License-Identifier: Apache-2.0
// The revision of the sources.  It is a separate library, octavo_revision, which only the two
// programs link: a new commit recompiles one generated file and links two programs.
#pragma once

#include <string_view>

namespace octavo {

// Twelve hexadecimal digits of the git commit, followed by "-dirty" if the working tree differs
// from it, or "unknown" if the sources have no git data (cmake/revision.cmake).
std::string_view Revision();

}  // namespace octavo
