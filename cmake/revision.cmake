# SPDX-License-Identifier: Apache-2.0
# Writes OUT, the definition of octavo::Revision(), where it differs from what OUT holds.
#
#   cmake -DSOURCE=DIR -DOUT=FILE [-DREVISION=TEXT] -P cmake/revision.cmake
#
# The revision is REVISION (an image is built without .git), else git's, else the one that
# `git archive` wrote into cmake/archive_revision.txt, else "unknown".  Runs at every build.
set(revision "${REVISION}")
if(NOT revision AND EXISTS "${SOURCE}/.git")
  # The owner of the checkout may be another user than the one who builds.
  execute_process(
    COMMAND git --no-optional-locks -c safe.directory=* -C "${SOURCE}"
            describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT revision)
  file(STRINGS "${SOURCE}/cmake/archive_revision.txt" archived LIMIT_COUNT 1)
  if(archived MATCHES "^[0-9a-f]+$")
    string(SUBSTRING "${archived}" 0 12 revision)
  endif()
endif()
if(NOT revision MATCHES "^[-0-9A-Za-z._]+$")
  set(revision "unknown")
endif()
set(text "// Written by cmake/revision.cmake.
#include \"core/base/revision.h\"

std::string_view octavo::Revision() { return \"${revision}\"; }
")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
