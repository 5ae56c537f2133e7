# SPDX-License-Identifier: Apache-2.0
# Writes a source file with the digest of everything that computes results: the files of core/ and
# proto/octavo/, by path and content.
#   cmake -DSOURCE=DIR -DOUT=FILE -P cmake/engine.cmake
# Runs at every build; the file is written again only if the digest has changed.
file(GLOB_RECURSE files RELATIVE "${SOURCE}" "${SOURCE}/core/*" "${SOURCE}/proto/octavo/*")
list(FILTER files INCLUDE REGEX "\\.(cc|h|def|inc|in|json|proto|txt)$")
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 "${SOURCE}/${file}" digest)
  string(APPEND all "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
set(text "// Written by cmake/engine.cmake.
#include \"core/base/engine.h\"

std::string_view octavo::EngineDigest() {
  return \"${digest}\";
}
")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
