// SPDX-License-Identifier: Apache-2.0
// The revision of the sources.  It is a library of its own, octavo_revision, which only the two
// programs link: a new commit recompiles one generated file and links two programs.
#pragma once

#include <string_view>

namespace octavo {

// Twelve hexadecimal digits of the git commit, with "-dirty" where the tree differs from it, or
// "unknown" where the sources came without git's data (cmake/revision.cmake).
std::string_view Revision();

}  // namespace octavo
