// SPDX-License-Identifier: Apache-2.0
// The identity of the code that computes results.  It is a library of its own, octavo_engine: a
// change of the core recompiles one generated file.
#pragma once

#include <string_view>

namespace octavo {

// The SHA-256 of the sources of the core and of the messages it writes, 64 hexadecimal digits
// (cmake/engine.cmake).  Programs that are built from equal sources give equal results.
std::string_view EngineDigest();

}  // namespace octavo
